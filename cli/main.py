def main(): print("forge")
