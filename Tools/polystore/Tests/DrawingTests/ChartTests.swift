import BrowserDrawing
import Testing

@Suite struct ChartTests {
    /// Returns the rectangles of a chart.
    private static func bars(_ bars: [BarChart.Bar]) throws -> [ParsedDrawing.Element] {
        try ParsedDrawing(BarChart(title: "t", bars).svg).all("rect")
    }

    @Test func twelveBarsAreVerticalAndMoreAreHorizontal() throws {
        for count in [1, 2, 12, 13, 200] {
            let bars = try Self.bars((1...count).map { .init("group \($0)", Double($0)) })
            let (widths, heights) = (Set(bars.map { $0.attributes["width"] }), Set(bars.map { $0.attributes["height"] }))
            #expect(bars.count == count)
            #expect(count <= 12 ? widths.count == 1 && heights.count == count : heights.count == 1 && widths.count > count / 2)
        }
    }

    @Test func barsBeginAtZeroAndHaveLengthsInProportion() throws {
        let bars = try Self.bars([.init("a", 10), .init("b", -5), .init("c", 0), .init("d", 2.5)])
        let heights = bars.map { $0.number("height") }
        #expect(abs(heights[0] - 2 * heights[1]) < 0.5)
        #expect(abs(heights[0] - 4 * heights[3]) < 0.5)
        #expect(heights[2] == 0)
        #expect(abs(bars[0].number("y") + heights[0] - bars[1].number("y")) < 0.2)
        #expect(bars[1].attributes["class"] == "bar negative")
    }

    @Test func groupsWithoutANumberHaveNoBarAndSaySo() throws {
        let chart = BarChart(title: "t", [.init("a", nil), .init("b", .nan), .init("c", .infinity), .init("d", -.infinity), .init("e", 3)])
        let parsed = try ParsedDrawing(chart.svg)
        #expect(parsed.all("rect").map { $0.attributes["class"] } == ["bar beyond", "bar beyond", "bar"])
        #expect(parsed.texts("title").dropFirst() == ["a: none", "b: NaN", "c: ∞", "d: -∞", "e: 3"])
        #expect(chart.summary == "5 groups. Largest: c, ∞. Smallest: d, -∞. 2 without a number.")
    }

    @Test func noGroupOneGroupAndTooManyGroupsAreStated() throws {
        #expect(BarChart(title: "t", []).summary == "No groups.")
        #expect(try ParsedDrawing(BarChart(title: "t", []).svg).texts().contains("No groups"))
        #expect(BarChart(title: "t", [.init("a", 1_234_567.5)]).summary == "1 group. Value: a, 1,234,567.5.")
        let many = BarChart(title: "t", (0..<1_000).map { .init("g\($0)", Double($0)) })
        #expect(many.summary == "The first 200 of 1000 groups. Largest: g999, 999. Smallest: g0, 0.")
        #expect(try ParsedDrawing(many.svg).all("rect").count == 200)
    }

    private static let axes: [([Double], [String])] = [
        ([0.0, 50], ["0", "10", "20", "30", "40", "50"]), ([0, 7], ["0", "2", "4", "6", "8"]), ([-3, 3], ["-4", "-2", "0", "2", "4"]),
        ([0.001, 0.004], ["0", "0.001", "0.002", "0.003", "0.004"]),
        ([1e6, 5e6], ["0", "1,000,000", "2,000,000", "3,000,000", "4,000,000", "5,000,000"]),
        ([], ["0", "0.2", "0.4", "0.6", "0.8", "1"]), ([0, 0], ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
    ]

    @Test(arguments: axes)
    func axesOfBarsHaveRoundNumbers(_ values: [Double], _ labels: [String]) throws {
        let bars = values.isEmpty ? [BarChart.Bar("x", nil)] : values.map { BarChart.Bar("x", $0) }
        let parsed = try ParsedDrawing(BarChart(title: "t", bars).svg)
        #expect(parsed.all("text", in: "g.grid").map(\.text) == labels)
    }

    private static let extremes: [[Double]] = [
        [.greatestFiniteMagnitude, -.greatestFiniteMagnitude], [.leastNonzeroMagnitude, 0],
        [.leastNonzeroMagnitude, .leastNormalMagnitude],
        [1e308, 1.1e308], [1e15, 1_000_000_000_000_000.125], [-0.0, 0.0], [1e-300, 2e-300], [.infinity], [.nan],
        [9_007_199_254_740_992, 9_007_199_254_740_994], [1e22, 1.0000000000000004e22],
    ]

    @Test(arguments: extremes)
    func anyNumbersGiveCoordinatesInTheChart(_ values: [Double]) throws {
        let drawings = [
            BarChart(title: "t", values.map { .init("b", $0) }).svg,
            BarChart(title: "t", (0..<13).map { .init("b", values[$0 % values.count]) }).svg,
            LineChart(title: "t", values.enumerated().map { .init(Double($0), $1) }).svg,
            LineChart(title: "t", values.map { .init($0, 1) }).svg,
            LineChart(title: "t", values.map { .init($0, $0) }, axis: .dates).svg,
        ]
        for drawing in drawings {
            let parsed = try ParsedDrawing(drawing)
            for rectangle in parsed.all("rect") {
                let box = Rectangle(
                    x: rectangle.number("x"), y: rectangle.number("y"), width: rectangle.number("width"), height: rectangle.number("height")
                )
                #expect(parsed.frame.contains(box))
            }
            for circle in parsed.all("circle") {
                #expect(parsed.frame.contains(Rectangle(x: circle.number("cx"), y: circle.number("cy"), width: 0, height: 0)))
            }
            #expect(!drawing.contains("=\"nan\"") && !drawing.contains("=\"inf\""))
        }
    }

    @Test(arguments: hostileTexts) func anyLabelGivesAWellFormedChart(_ text: String) throws {
        let bars = [BarChart.Bar(text, 1, link: text), .init(text, -1, link: "/rows?filter=\(text)"), .init(text, nil)]
        for chart in [BarChart(title: text, bars), BarChart(title: text, Array(repeating: bars, count: 5).flatMap { $0 })] {
            let parsed = try ParsedDrawing(chart.svg)
            #expect(Set(parsed.elements.map(\.name)).isSubset(of: ["svg", "title", "desc", "g", "rect", "line", "path", "text", "a"]))
            #expect(parsed.all("a").allSatisfy { $0.attributes["href"]?.hasPrefix("/rows") == true })
            #expect(chart.svg.utf8.count < 100_000)
        }
        _ = try ParsedDrawing(LineChart(title: text, [.init(0, 1), .init(1, 2)]).svg)
    }

    @Test func aLineHasGapsWhereThereIsNoNumber() throws {
        let chart = LineChart(
            title: "t", [.init(3, 4), .init(0, 1), .init(1, 2), .init(2, nil), .init(4, .nan), .init(5, 1), .init(.nan, 7)])
        let path = try #require(try ParsedDrawing(chart.svg).all("path").first { $0.attributes["class"] == "line" }?.attributes["d"])
        #expect(path.count { $0 == "M" } == 3)
        #expect(path.count { $0 == "L" } == 1)
        #expect(
            chart.summary
                == "6 points, from 0 to 5. Values from 1 to 4. 2 without a number. 1 left out, because their position is not a number.")
    }

    @Test func aPointAndNoPointAreDrawn() throws {
        #expect(try ParsedDrawing(LineChart(title: "t", [.init(1, 1)]).svg).all("circle").count == 1)
        #expect(try ParsedDrawing(LineChart(title: "t", []).svg).texts().contains("No values"))
        #expect(try ParsedDrawing(LineChart(title: "t", [.init(1, nil)]).svg).texts().contains("No values"))
    }

    @Test func aHundredThousandPointsAreOneLineOfBoundedLength() throws {
        let svg = LineChart(title: "t", (0..<100_000).map { .init(Double($0), Double($0 * 7_919 % 1_000)) }).svg
        #expect(svg.utf8.count < 100_000)
        #expect(try ParsedDrawing(svg).all("circle").isEmpty)
    }

    private static let dates: [(Double, Double, [String])] = [
        (0, 259_200, ["1970-01-01", "1970-01-02", "1970-01-03", "1970-01-04"]),
        (0, 120, ["1970-01-01", "00:01", "00:02"]), (1_709_164_800, 1_709_172_000, ["2024-02-29", "01:00", "02:00"]),
        (1_704_067_200, 1_719_792_000, ["2024-01", "2024-04", "2024-07"]),
        (-2_208_988_800, 1_704_067_200, ["1900", "1950", "2000"]), (-62_198_755_200, -62_167_219_200, ["0000-01"]),
    ]

    @Test(arguments: dates)
    func axesOfDatesHaveTheBeginningsOfPeriods(_ first: Double, _ last: Double, _ labels: [String]) throws {
        let parsed = try ParsedDrawing(LineChart(title: "t", [.init(first, 1), .init(last, 2)], axis: .dates).svg)
        let rows = Set(parsed.all("text", in: "g.grid").filter { $0.attributes["text-anchor"] == "middle" }.map(\.text))
        #expect(Set(labels).isSubset(of: rows), "\(rows.sorted())")
    }

    @Test func theSameGroupsGiveTheSameChart() throws {
        try expectGolden(
            BarChart(
                title: "count by continent",
                [.init("Africa", 58, link: "/rows?continent=1"), .init("Asia", 52), .init("Antarctica", -3), .init("", nil)]
            ).svg, "bars")
        try expectGolden(
            LineChart(title: "sales", [.init(1_704_067_200, 3), .init(1_706_745_600, 5.5), .init(1_709_251_200, 4)], axis: .dates).svg,
            "line")
    }
}
