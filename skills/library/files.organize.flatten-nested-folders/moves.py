def compute(nested, target):
    return {file["path"]: target + "/" + file["name"] for file in nested}
