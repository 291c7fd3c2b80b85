/// The tables of the Chinook database, with invented rows.
enum ChinookDatabase {
    static let statements: [String] = tables + indexes + rows

    private static let tables = [
        "CREATE TABLE [Artist] ([ArtistId] INTEGER NOT NULL, [Name] NVARCHAR(120), CONSTRAINT [PK_Artist] PRIMARY KEY ([ArtistId]))",
        """
        CREATE TABLE [Album] ([AlbumId] INTEGER NOT NULL, [Title] NVARCHAR(160) NOT NULL, [ArtistId] INTEGER NOT NULL,
            CONSTRAINT [PK_Album] PRIMARY KEY ([AlbumId]),
            FOREIGN KEY ([ArtistId]) REFERENCES [Artist] ([ArtistId]) ON DELETE NO ACTION ON UPDATE NO ACTION)
        """,
        """
        CREATE TABLE [Employee] ([EmployeeId] INTEGER NOT NULL, [LastName] NVARCHAR(20) NOT NULL, [FirstName] NVARCHAR(20) NOT NULL, [Title] NVARCHAR(30),
            [ReportsTo] INTEGER, [BirthDate] DATETIME, [HireDate] DATETIME, [Address] NVARCHAR(70), [City] NVARCHAR(40), [State] NVARCHAR(40),
            [Country] NVARCHAR(40), [PostalCode] NVARCHAR(10), [Phone] NVARCHAR(24), [Fax] NVARCHAR(24), [Email] NVARCHAR(60),
            CONSTRAINT [PK_Employee] PRIMARY KEY ([EmployeeId]),
            FOREIGN KEY ([ReportsTo]) REFERENCES [Employee] ([EmployeeId]) ON DELETE NO ACTION ON UPDATE NO ACTION)
        """,
        """
        CREATE TABLE [Customer] ([CustomerId] INTEGER NOT NULL, [FirstName] NVARCHAR(40) NOT NULL, [LastName] NVARCHAR(20) NOT NULL, [Company] NVARCHAR(80),
            [Address] NVARCHAR(70), [City] NVARCHAR(40), [Country] NVARCHAR(40), [Email] NVARCHAR(60) NOT NULL, [SupportRepId] INTEGER,
            CONSTRAINT [PK_Customer] PRIMARY KEY ([CustomerId]),
            FOREIGN KEY ([SupportRepId]) REFERENCES [Employee] ([EmployeeId]) ON DELETE NO ACTION ON UPDATE NO ACTION)
        """,
        "CREATE TABLE [Genre] ([GenreId] INTEGER NOT NULL, [Name] NVARCHAR(120), CONSTRAINT [PK_Genre] PRIMARY KEY ([GenreId]))",
        "CREATE TABLE [MediaType] ([MediaTypeId] INTEGER NOT NULL, [Name] NVARCHAR(120), CONSTRAINT [PK_MediaType] PRIMARY KEY ([MediaTypeId]))",
        """
        CREATE TABLE [Track] ([TrackId] INTEGER NOT NULL, [Name] NVARCHAR(200) NOT NULL, [AlbumId] INTEGER, [MediaTypeId] INTEGER NOT NULL,
            [GenreId] INTEGER, [Composer] NVARCHAR(220), [Milliseconds] INTEGER NOT NULL, [Bytes] INTEGER, [UnitPrice] NUMERIC(10,2) NOT NULL,
            CONSTRAINT [PK_Track] PRIMARY KEY ([TrackId]),
            FOREIGN KEY ([AlbumId]) REFERENCES [Album] ([AlbumId]) ON DELETE NO ACTION ON UPDATE NO ACTION,
            FOREIGN KEY ([GenreId]) REFERENCES [Genre] ([GenreId]) ON DELETE NO ACTION ON UPDATE NO ACTION,
            FOREIGN KEY ([MediaTypeId]) REFERENCES [MediaType] ([MediaTypeId]) ON DELETE NO ACTION ON UPDATE NO ACTION)
        """,
        """
        CREATE TABLE [Invoice] ([InvoiceId] INTEGER NOT NULL, [CustomerId] INTEGER NOT NULL, [InvoiceDate] DATETIME NOT NULL, [BillingCity] NVARCHAR(40),
            [Total] NUMERIC(10,2) NOT NULL, CONSTRAINT [PK_Invoice] PRIMARY KEY ([InvoiceId]),
            FOREIGN KEY ([CustomerId]) REFERENCES [Customer] ([CustomerId]) ON DELETE NO ACTION ON UPDATE NO ACTION)
        """,
        """
        CREATE TABLE [InvoiceLine] ([InvoiceLineId] INTEGER NOT NULL, [InvoiceId] INTEGER NOT NULL, [TrackId] INTEGER NOT NULL,
            [UnitPrice] NUMERIC(10,2) NOT NULL, [Quantity] INTEGER NOT NULL, CONSTRAINT [PK_InvoiceLine] PRIMARY KEY ([InvoiceLineId]),
            FOREIGN KEY ([InvoiceId]) REFERENCES [Invoice] ([InvoiceId]) ON DELETE NO ACTION ON UPDATE NO ACTION,
            FOREIGN KEY ([TrackId]) REFERENCES [Track] ([TrackId]) ON DELETE NO ACTION ON UPDATE NO ACTION)
        """,
        "CREATE TABLE [Playlist] ([PlaylistId] INTEGER NOT NULL, [Name] NVARCHAR(120), CONSTRAINT [PK_Playlist] PRIMARY KEY ([PlaylistId]))",
        """
        CREATE TABLE [PlaylistTrack] ([PlaylistId] INTEGER NOT NULL, [TrackId] INTEGER NOT NULL,
            CONSTRAINT [PK_PlaylistTrack] PRIMARY KEY ([PlaylistId], [TrackId]),
            FOREIGN KEY ([PlaylistId]) REFERENCES [Playlist] ([PlaylistId]) ON DELETE NO ACTION ON UPDATE NO ACTION,
            FOREIGN KEY ([TrackId]) REFERENCES [Track] ([TrackId]) ON DELETE NO ACTION ON UPDATE NO ACTION)
        """,
    ]

    private static let indexes = [
        "CREATE INDEX [IFK_AlbumArtistId] ON [Album] ([ArtistId])", "CREATE INDEX [IFK_TrackAlbumId] ON [Track] ([AlbumId])",
        "CREATE INDEX [IX_TrackName] ON [Track] ([Name])", "CREATE INDEX [IX_CustomerName] ON [Customer] ([LastName], [FirstName])",
    ]

    private static let rows: [String] = {
        var rows: [String] = []
        for id in 1...20 { rows.append("INSERT INTO Artist VALUES (\(id), \(id == 7 ? "NULL" : "'Artist ''\(id)'' é'"))") }
        for id in 1...30 { rows.append("INSERT INTO Album VALUES (\(id), 'Album \(id)', \(1 + id % 20))") }
        // The first ones report to later ones.
        for id in 1...8 {
            let boss = id == 8 ? "NULL" : "\(id < 5 ? 8 : 9 - id)"
            rows.append(
                "INSERT INTO Employee (EmployeeId, LastName, FirstName, Title, ReportsTo, BirthDate, HireDate) VALUES (\(id), 'Last\(id)', 'First', NULL, \(boss), '19\(60 + id)-02-0\(id) 00:00:00', '2002-08-14 13:0\(id):59')"
            )
        }
        for id in 1...25 {
            rows.append(
                "INSERT INTO Customer VALUES (\(id), 'F\(id % 4)', 'L\(id)', NULL, '', 'City', 'Land', 'c\(id)@example.com', \(id % 5 == 0 ? "NULL" : "\(1 + id % 8)"))"
            )
        }
        for id in 1...5 { rows.append("INSERT INTO Genre VALUES (\(id), 'Genre \(id)')") }
        for id in 1...3 { rows.append("INSERT INTO MediaType VALUES (\(id), 'Type \(id)')") }
        for id in 1...120 {
            let (album, price) = (id % 10 == 0 ? "NULL" : "\(1 + id % 30)", ["0.99", "1.99", "2"][id % 3])
            rows.append(
                "INSERT INTO Track VALUES (\(id), 'Track \(id)', \(album), \(1 + id % 3), \(1 + id % 5), NULL, \(id * 1000), \(id * 7919), \(price))"
            )
        }
        for id in 1...40 {
            rows.append("INSERT INTO Invoice VALUES (\(id), \(1 + id % 25), '2021-0\(1 + id % 9)-28 00:00:00', 'City', \(id).\(id % 10)5)")
        }
        for id in 1...90 { rows.append("INSERT INTO InvoiceLine VALUES (\(id), \(1 + id % 40), \(1 + id % 120), 0.99, \(1 + id % 2))") }
        for id in 1...4 { rows.append("INSERT INTO Playlist VALUES (\(id), 'List \(id)')") }
        for id in 1...60 { rows.append("INSERT INTO PlaylistTrack VALUES (\(1 + id % 3), \(id * 2))") }
        return rows
    }()
}
