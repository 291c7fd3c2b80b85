import PolyStoreBackend

let textCases: [ConformanceCase] = []
