import PolyStoreBackend

let queryCases: [ConformanceCase] = []
