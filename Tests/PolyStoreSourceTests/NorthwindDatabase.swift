/// The tables of the Northwind database, with invented rows.
enum NorthwindDatabase {
    static let statements: [String] = tables + views + rows

    private static let tables = [
        "CREATE TABLE [Categories] ([CategoryID] INTEGER PRIMARY KEY AUTOINCREMENT, [CategoryName] TEXT, [Description] TEXT, [Picture] BLOB)",
        "CREATE TABLE [CustomerDemographics] ([CustomerTypeID] TEXT NOT NULL, [CustomerDesc] TEXT, PRIMARY KEY ([CustomerTypeID]))",
        """
        CREATE TABLE [Customers] ([CustomerID] TEXT, [CompanyName] TEXT, [ContactName] TEXT, [City] TEXT, [Region] TEXT, [PostalCode] TEXT, [Phone] TEXT,
            PRIMARY KEY (`CustomerID`))
        """,
        """
        CREATE TABLE [CustomerCustomerDemo] ([CustomerID] TEXT NOT NULL, [CustomerTypeID] TEXT NOT NULL, PRIMARY KEY ("CustomerID", "CustomerTypeID"),
            FOREIGN KEY ([CustomerID]) REFERENCES [Customers] ([CustomerID]), FOREIGN KEY ([CustomerTypeID]) REFERENCES [CustomerDemographics] ([CustomerTypeID]))
        """,
        """
        CREATE TABLE [Employees] ([EmployeeID] INTEGER PRIMARY KEY AUTOINCREMENT, [LastName] TEXT, [FirstName] TEXT, [BirthDate] DATE, [HireDate] DATE,
            [Photo] BLOB, [Notes] TEXT, [ReportsTo] INTEGER, [Salary] REAL DEFAULT 0, FOREIGN KEY ([ReportsTo]) REFERENCES [Employees] ([EmployeeID]))
        """,
        "CREATE TABLE [Regions] ([RegionID] INTEGER NOT NULL PRIMARY KEY, [RegionDescription] TEXT NOT NULL)",
        """
        CREATE TABLE [Territories] ([TerritoryID] TEXT NOT NULL, [TerritoryDescription] TEXT NOT NULL, [RegionID] INTEGER NOT NULL,
            PRIMARY KEY ([TerritoryID]), FOREIGN KEY ([RegionID]) REFERENCES [Regions] ([RegionID]) ON DELETE CASCADE)
        """,
        """
        CREATE TABLE [EmployeeTerritories] ([EmployeeID] INTEGER NOT NULL, [TerritoryID] TEXT NOT NULL, PRIMARY KEY ("EmployeeID", "TerritoryID"),
            FOREIGN KEY ([EmployeeID]) REFERENCES [Employees] ([EmployeeID]), FOREIGN KEY ([TerritoryID]) REFERENCES [Territories] ([TerritoryID]))
        """,
        "CREATE TABLE [Shippers] ([ShipperID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [CompanyName] TEXT NOT NULL, [Phone] TEXT)",
        """
        CREATE TABLE [Suppliers] ([SupplierID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [CompanyName] TEXT NOT NULL, [HomePage] TEXT)
        """,
        """
        CREATE TABLE [Orders] ([OrderID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [CustomerID] TEXT, [EmployeeID] INTEGER, [OrderDate] DATETIME,
            [ShippedDate] DATETIME, [ShipVia] INTEGER, [Freight] NUMERIC DEFAULT 0, [ShipName] TEXT,
            FOREIGN KEY ([EmployeeID]) REFERENCES [Employees] ([EmployeeID]), FOREIGN KEY ([CustomerID]) REFERENCES [Customers] ([CustomerID]),
            FOREIGN KEY ([ShipVia]) REFERENCES [Shippers] ([ShipperID]) ON DELETE SET NULL)
        """,
        """
        CREATE TABLE [Products] ([ProductID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [ProductName] TEXT NOT NULL, [SupplierID] INTEGER, [CategoryID] INTEGER,
            [QuantityPerUnit] TEXT, [UnitPrice] NUMERIC DEFAULT 0, [UnitsInStock] INTEGER DEFAULT 0, [Discontinued] TEXT NOT NULL DEFAULT '0',
            CHECK ([UnitPrice] >= (0)), CHECK (UnitsInStock >= 0),
            FOREIGN KEY ([CategoryID]) REFERENCES [Categories] ([CategoryID]), FOREIGN KEY ([SupplierID]) REFERENCES [Suppliers] ([SupplierID]))
        """,
        """
        CREATE TABLE [Order Details] ([OrderID] INTEGER NOT NULL, [ProductID] INTEGER NOT NULL, [UnitPrice] NUMERIC NOT NULL DEFAULT 0,
            [Quantity] INTEGER NOT NULL DEFAULT 1, [Discount] REAL NOT NULL DEFAULT 0, PRIMARY KEY ("OrderID", "ProductID"),
            CHECK ([Discount] >= (0) AND [Discount] <= (1)),
            FOREIGN KEY ([OrderID]) REFERENCES [Orders] ([OrderID]) ON DELETE CASCADE, FOREIGN KEY ([ProductID]) REFERENCES [Products] ([ProductID]))
        """,
    ]

    private static let views = [
        "CREATE VIEW [Current Product List] AS SELECT ProductID, ProductName FROM Products WHERE Discontinued = '0'",
        "CREATE VIEW [Order Subtotals] AS SELECT OrderID, sum(UnitPrice * Quantity * (1 - Discount)) AS Subtotal FROM [Order Details] GROUP BY OrderID",
    ]

    private static let rows: [String] = {
        var rows: [String] = []
        for id in 1...6 {
            rows.append("INSERT INTO Categories VALUES (\(id), 'Category \(id)', NULL, \(id % 2 == 0 ? "X'00FF0\(id)'" : "X''"))")
        }
        for id in 1...3 { rows.append("INSERT INTO CustomerDemographics VALUES ('T\(id)', 'Type \(id)')") }
        for id in 1...15 {
            rows.append("INSERT INTO Customers VALUES ('CUST\(id)', 'Company \(id)', 'O''Neil', 'City', NULL, '0\(id)', '')")
        }
        for id in 1...10 { rows.append("INSERT INTO CustomerCustomerDemo VALUES ('CUST\(id)', 'T\(1 + id % 3)')") }
        for id in 1...9 {
            rows.append(
                "INSERT INTO Employees VALUES (\(id), 'L\(id)', 'F', '1950-0\(id)-29', '1994-01-0\(id)', NULL, 'notes', \(id == 2 ? "NULL" : "2"), \(id)000.5)"
            )
        }
        for id in 1...4 { rows.append("INSERT INTO Regions VALUES (\(id), 'Region \(id)')") }
        for id in 1...12 { rows.append("INSERT INTO Territories VALUES ('0\(1000 + id)', 'Place \(id)', \(1 + id % 4))") }
        for id in 1...20 { rows.append("INSERT INTO EmployeeTerritories VALUES (\(1 + id % 9), '0\(1001 + id % 12)')") }
        for id in 1...3 { rows.append("INSERT INTO Shippers VALUES (\(id), 'Shipper \(id)', NULL)") }
        for id in 1...5 { rows.append("INSERT INTO Suppliers VALUES (\(id), 'Supplier \(id)', 'https://example.com/\(id)')") }
        for id in 1...50 {
            rows.append(
                "INSERT INTO Orders VALUES (\(10247 + id), 'CUST\(1 + id % 15)', \(1 + id % 9), '2016-07-0\(1 + id % 9)', \(id % 4 == 0 ? "NULL" : "'2016-08-1\(id % 9)'"), \(1 + id % 3), \(id * 3).\(id % 4 * 25), 'Ship')"
            )
        }
        for id in 1...25 {
            rows.append(
                "INSERT INTO Products VALUES (\(id), 'Product \(id)', \(1 + id % 5), \(1 + id % 6), '\(id) boxes', \(id).5, \(id), '\(id % 2)')"
            )
        }
        for id in 1...100 {
            rows.append(
                "INSERT OR IGNORE INTO [Order Details] VALUES (\(10248 + id % 50), \(1 + id * 7 % 25), \(id).25, \(1 + id % 9), \(id % 4 == 0 ? "0.15" : "0"))"
            )
        }
        return rows
    }()
}
