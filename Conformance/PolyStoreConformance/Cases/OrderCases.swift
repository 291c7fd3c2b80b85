import PolyStoreBackend

let orderCases: [ConformanceCase] = []
