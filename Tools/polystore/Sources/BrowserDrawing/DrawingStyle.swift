/// The rules of style sheets for the classes of drawings, in light and dark.
package enum DrawingStyle {
    package static let css = """
        svg.diagram, svg.chart { display: block; font-family: system-ui, sans-serif; color-scheme: light dark; --drawing-text: #1b1f24;
          --drawing-muted: #57606a; --drawing-box: #ffffff; --drawing-head: #0b57b0; --drawing-border: #8c959f; --drawing-line: #57606a;
          --drawing-bar: #2f6fbf; --drawing-negative: #b5482a; --drawing-grid: #d5dae0; }
        @media (prefers-color-scheme: dark) { svg.diagram, svg.chart { --drawing-text: #e6edf3; --drawing-muted: #a3adb8; --drawing-box: #161b22;
          --drawing-head: #79b8ff; --drawing-border: #6e7681; --drawing-line: #a3adb8; --drawing-bar: #6cabf7; --drawing-negative: #f0936f;
          --drawing-grid: #30363d; } }
        svg.diagram text, svg.chart text { fill: var(--drawing-text); }
        svg.diagram .box rect { fill: var(--drawing-box); stroke: var(--drawing-border); }
        svg.diagram .box line { stroke: var(--drawing-border); }
        svg.diagram .box.abstract rect { stroke-dasharray: 5 3; }
        svg.diagram .box.focus rect { stroke: var(--drawing-head); stroke-width: 2.5; }
        svg.diagram .name { font-weight: 600; }
        svg.diagram a .name { fill: var(--drawing-head); text-decoration: underline; }
        svg.diagram .abstract .name { font-style: italic; }
        svg.diagram .detail, svg.diagram .note, svg.diagram .more text, svg.diagram .lines text { fill: var(--drawing-muted); }
        svg.diagram .lines path { fill: none; stroke: var(--drawing-line); stroke-width: 1.3; }
        svg.diagram .lines path.arrow { fill: var(--drawing-line); }
        svg.diagram .specialisation path.arrow { fill: var(--drawing-box); }
        svg.diagram a:focus, svg.chart a:focus { outline: none; }
        svg.diagram a:focus-visible .name { outline: 2px solid var(--drawing-head); outline-offset: 2px; }
        svg.diagram .lines g:hover path { stroke: var(--drawing-head); stroke-width: 2.5; }
        svg.chart .grid line { stroke: var(--drawing-grid); }
        svg.chart .grid line.zero { stroke: var(--drawing-muted); }
        svg.chart .grid text, svg.chart .empty { fill: var(--drawing-muted); }
        svg.chart .bar { fill: var(--drawing-bar); }
        svg.chart .negative { fill: var(--drawing-negative); }
        svg.chart .beyond { fill: none; stroke: var(--drawing-bar); stroke-dasharray: 4 3; }
        svg.chart a:hover .bar { stroke: var(--drawing-text); }
        svg.chart a:focus-visible .bar { stroke: var(--drawing-text); stroke-width: 3; }
        svg.chart a:focus-visible text { text-decoration: underline; }
        svg.chart .line { fill: none; stroke: var(--drawing-bar); stroke-width: 2; stroke-linejoin: round; }
        svg.chart circle { fill: var(--drawing-bar); }

        """
}
