import PolyStoreBackend

let relationshipCases: [ConformanceCase] = []
