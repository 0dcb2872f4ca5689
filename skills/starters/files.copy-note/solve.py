# ruff: noqa: F821
import pathlib
import shutil

folder = pathlib.Path(facts["folder"]).expanduser()
shutil.copyfile(folder / facts["note"], folder / facts["target"])
