# ruff: noqa: F821
import os
import tarfile
import zipfile

source = os.path.expanduser(facts["archive"])


def put(path, data):
    path = os.path.expanduser(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(data)


if source.endswith(".zip"):
    with zipfile.ZipFile(source) as pack:
        for item in facts["chosen"]:
            put(item["out"], pack.read(item["member"]))
else:
    with tarfile.open(source) as pack:
        for item in facts["chosen"]:
            put(item["out"], pack.extractfile(item["member"]).read())
