import PolyStoreBackend

let uniquenessCases: [ConformanceCase] = []
