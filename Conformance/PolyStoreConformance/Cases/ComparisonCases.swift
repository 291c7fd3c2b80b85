import PolyStoreBackend

let comparisonCases: [ConformanceCase] = []
