def compute(renamed, root):
    return {file["path"]: root + "/" + file["new"] for file in renamed}
