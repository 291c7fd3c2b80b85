import PolyStoreBackend

let concurrencyCases: [ConformanceCase] = []
