def compute(copies, target):
    return {path: target + "/" + path.rsplit("/", 1)[1] for path in copies}
