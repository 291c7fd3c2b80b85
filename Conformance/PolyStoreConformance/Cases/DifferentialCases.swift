import PolyStoreBackend

let differentialCases: [ConformanceCase] = []
