"""How many files of each type a folder of the tree holds, and the folders in which one has to look."""


def compute(root, paths, types, pick):
    inside = [path[len(root) + 1 :] for path in paths if path.startswith(root + "/")]
    tops = sorted({path.split("/")[0] for path in inside if path.count("/") >= 2 and not path.startswith(".")})
    choices = [root] + [f"{root}/{top}" for top in tops]
    folder = choices[pick % len(choices)]
    below = [path for path in paths if path.startswith(folder + "/")]
    suffix = {
        path: "." + path.rsplit("/", 1)[1].rsplit(".", 1)[1] for path in below if "." in path.rsplit("/", 1)[1][1:]
    }
    counts = [sum(suffix.get(path, "") in kind for path in below) for kind in types]
    known = {one for kind in types for one in kind}
    hits = [path for path in below if suffix.get(path, "").lower() in known]
    clear = not any("/." in path or suffix[path] != suffix[path].lower() for path in hits)
    within = sorted({path.rsplit("/", 1)[0] for path in below})
    return {"folder": folder, "counts": counts, "within": within, "subfolders": len(set(within) - {folder}),
            "clear": clear, "files": sum(counts)}  # fmt: skip
