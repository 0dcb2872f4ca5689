def compute(found):
    return {file["path"]: file["moved"] for file in found}
