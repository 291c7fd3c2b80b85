import PolyStoreBackend

let valueCases: [ConformanceCase] = []
