import PolyStoreBackend

let transactionCases: [ConformanceCase] = []
