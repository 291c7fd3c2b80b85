import PolyStoreBackend

let writingCases: [ConformanceCase] = []
