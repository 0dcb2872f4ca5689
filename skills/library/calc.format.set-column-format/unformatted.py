"""The workbook's sheets, where one column of the main table has a number format that nobody wants to see."""


def compute(sheets, main, column, code):
    done = []
    for index, sheet in enumerate(sheets):
        if index == main:
            table = sheet["table"]
            columns = [{**c, "format": code} if c["name"] == column else c for c in table["columns"]]
            sheet = {**sheet, "table": {**table, "columns": columns}}
        done.append(sheet)
    return {"sheets": done}
