import PolyStoreBackend

let openingCases: [ConformanceCase] = []
