"""numpy, pandas, matplotlib and pydantic, if the tests' interpreter has them."""

import base64
import importlib.util
import unittest

from tests.host import GuestCase, text


def needs(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


@needs("numpy")
class Numpy(GuestCase):
    def test_table(self):
        self.check("import numpy as np")
        for code, expected in (
            ("np.int64(3)", 3),
            ("np.float64(2.5)", 2.5),
            ("np.float32(0.5)", 0.5),
            ("np.bool_(True)", True),
            ("np.str_('s')", "s"),
            ("np.bytes_(b'b')", "b"),
            ("np.float64('nan')", None),
            ("np.array([[1, 2], [3, 4]])", [[1, 2], [3, 4]]),
            ("np.array(5)", 5),
            ("np.array([1.5, np.nan, np.inf])", [1.5, None, None]),
            ("np.array(['2020-01-02'], dtype='datetime64[D]')", ["2020-01-02"]),
            ("np.datetime64('2020-01-02')", "2020-01-02"),
            ("np.datetime64('NaT')", None),
            ("{'a': np.arange(3)}", {"a": [0, 1, 2]}),
            ("{np.int64(1): np.int8(2)}", {"1": 2}),
            ("np.array([1], dtype='uint64') * 2**63 // 1", [2**63]),
            ("np.array([{'a': 1}], dtype=object)", [{"a": 1}]),
            ("np.complex128(1j)", "1j"),
        ):
            with self.subTest(code):
                self.check(code, expected)

    def test_large_array_is_summarized(self):
        outcome = self.guest.run("import numpy as np\nnp.zeros((3000, 3000))")
        self.assertIn("...", outcome.result, outcome)

    def test_as_arguments(self):
        self.check(
            "import numpy as np\n(await tools.stub.args(a=np.arange(2), b=np.float32(1.5))).args",
            {"a": [0, 1], "b": 1.5},
        )


@needs("pandas")
class Pandas(GuestCase):
    def test_table(self):
        self.check(
            "import pandas as pd, numpy as np\ndf = pd.DataFrame({'a': [1, 2], 'b': ['x', None], 'c': [1.5, np.nan]})"
        )
        rows = [{"a": 1, "b": "x", "c": 1.5}, {"a": 2, "b": None, "c": None}]
        for code, expected in (
            ("df", rows),
            ("{'table': df}", {"table": rows}),
            ("df[df.a > 1]", [{"index": 1, **rows[1]}]),
            ("df.set_index('b')[['a']]", [{"b": "x", "a": 1}, {"b": None, "a": 2}]),
            ("df.groupby('a').c.sum()", {"1": 1.5, "2": 0.0}),
            ("df.groupby('a')[['c']].sum()", [{"a": 1, "c": 1.5}, {"a": 2, "c": 0.0}]),
            ("df.a", [1, 2]),
            ("df.a.value_counts().sort_index()", {"1": 1, "2": 1}),
            ("pd.Series([1, 2], index=['x', 'x'])", [["x", 1], ["x", 2]]),
            ("df.dtypes.astype(str)['a']", "int64"),
            ("df.columns", ["a", "b", "c"]),
            ("df.index", [0, 1]),
            ("df.iloc[0]", {"a": 1, "b": "x", "c": 1.5}),
            ("df.a.sum(), df.c.mean()", [3, 1.5]),
            ("pd.Timestamp('2020-01-02 03:04')", "2020-01-02T03:04:00"),
            ("pd.NaT, pd.NA", [None, None]),
            ("pd.Timedelta('1h')", "0 days 01:00:00"),
            ("pd.DataFrame({'t': pd.to_datetime(['2020-01-02', None])})", [{"t": "2020-01-02T00:00:00"}, {"t": None}]),
            ("pd.DataFrame({'p': [pd.Period('2020-01', 'M')]})", [{"p": "2020-01"}]),
            ("pd.DataFrame()", []),
            ("pd.DataFrame({'i': pd.array([1, None], dtype='Int64')})", [{"i": 1}, {"i": None}]),
            ("pd.Categorical(['a', 'b'])", ["a", "b"]),
            ("pd.MultiIndex.from_tuples([(1, 'a')])", [[1, "a"]]),
        ):
            with self.subTest(code):
                self.check(code, expected)

    def test_no_column_is_left_out_for_its_name(self):
        self.check(
            "import pandas as pd\nsold = pd.DataFrame({'region': ['N', 'S', 'N'], 'n': [1, 2, 3]})\n"
            "left, right = pd.DataFrame({'id': [1], 'x': [2]}), pd.DataFrame({'id': [3], 'y': [4]})\n"
            "pairs = pd.MultiIndex.from_tuples([(5, 6)], names=['v', 'v'])"
        )
        for code, expected in (
            ("sold.region.value_counts().to_frame('region')", [{"region_index": "N", "region": 2}, {"region_index": "S", "region": 1}]),
            (
                "sold.groupby('region').agg(region=('n', 'sum'))",
                [{"region_index": "N", "region": 4}, {"region_index": "S", "region": 2}],
            ),
            ("pd.concat([left, right], axis=1)", [{"id": 1, "x": 2, "id_2": 3, "y": 4}]),
            ("pd.concat([left, right, left], axis=1)", [{"id": 1, "x": 2, "id_2": 3, "y": 4, "id_3": 1, "x_2": 2}]),
            ("pd.DataFrame({1: [1], '1': [2]})", [{"1": 1, "1_2": 2}]),
            ("pd.DataFrame([[1, 2, 3]], columns=['k', 'k_2', 'k'])", [{"k": 1, "k_2": 2, "k_3": 3}]),
            ("left.set_index(['id', 'x'], drop=False)", [{"id_index": 1, "x_index": 2, "id": 1, "x": 2}]),
            (
                "pd.DataFrame([[1, 2]], columns=['k', 'k_index'], index=pd.Index([9], name='k'))",
                [{"k_index_2": 9, "k": 1, "k_index": 2}],
            ),
            ("pd.DataFrame({'v': [1]}, index=pairs)", [{"v_index": 5, "v_index_2": 6, "v": 1}]),
            ("pd.DataFrame({'w': [1]}, index=pairs)", [{"v": 5, "v_2": 6, "w": 1}]),
            ("pd.DataFrame({'index': [1]}, index=['a'])", [{"level_0": "a", "index": 1}]),
            ("pd.DataFrame({'index': [1], 'level_0': [2]}, index=['a'])", [{"level_0_index": "a", "index": 1, "level_0": 2}]),
            ("pd.DataFrame(index=['a', 'b'])", [{"index": "a"}, {"index": "b"}]),
            ("pd.Series([1, 2], index=[1, '1'])", {"1": 1, "1_2": 2}),
        ):
            with self.subTest(code):
                outcome = self.guest.run(code)
                self.assertEqual((outcome.result, outcome.stderr), (expected, b""), outcome.error)
        self.check("(await tools.stub.args(a=pd.concat([left, right], axis=1))).args.a", [{"id": 1, "x": 2, "id_2": 3, "y": 4}])
        self.check("pd.concat([left, right], axis=1).columns, sold.columns", [["id", "x", "id", "y"], ["region", "n"]])

    def test_long_table_is_cut_and_says_so(self):
        for code, shown in (("pd.DataFrame({'n': range(25_000)})", "records"), ("pd.Series(range(25_000))", "values")):
            result = self.guest.run(f"import pandas as pd\n{code}").result
            self.assertEqual(len(result[shown]), 10_000)
            self.assertIn("the first 10,000 of 25,000", result["note"])
            self.assertIn("write them to a file in /results", result["note"])

    def test_long_table_is_an_argument_as_it_is(self):
        code = "import pandas as pd\nlen((await tools.stub.args(a=pd.DataFrame({'n': range(25_000)}))).args.a)"
        self.check(code, 25_000)
        self.check_error("await tools.stub.args(a=pd.Series(range(1_000_001)))", "TooLarge", "argument 'a'", "1,000,000")

    def test_from_results_of_tools(self):
        rows = [{"id": n, "total": n * 1.5, "tag": "a" if n % 2 else "b"} for n in range(1000)]
        self.guest.answer, before = (
            (lambda name, args: {"content": [], "structuredContent": {"rows": rows}}),
            self.guest.answer,
        )
        try:
            self.check(
                "import pandas as pd\nr = await tools.stub.rows()\ndf = pd.DataFrame(r.rows)\n"
                "return df.groupby('tag').total.sum().to_dict()",
                {"a": sum(r["total"] for r in rows[1::2]), "b": sum(r["total"] for r in rows[::2])},
            )
            self.check(
                "r = await mcp_stub.rows()\npd.DataFrame(r['rows']).shape, pd.json_normalize(r['rows']).shape",
                [[1000, 3], [1000, 3]],
            )
        finally:
            self.guest.answer = before
        self.check(f"pd.Series(await tools.stub.raw(result={text('[1, 2]')!r})).sum()", 3)


@needs("pandas")
class Handles(GuestCase):
    """A large numpy or pandas value: its beginning is sent, the value itself stays."""

    SETUP = "import numpy as np, pandas as pd\nframe = pd.DataFrame({'city': ['Oslo', 'Rome'] * 20_000, 'n': range(40_000)})"

    def setUp(self):
        self.give(2000)
        self.guest.run(self.SETUP)

    def tearDown(self):
        self.guest.limits = None

    def give(self, most):
        self.guest.limits = {"output": 1 << 20, "concurrent_calls": 32, "result": most}

    def test_beginnings(self):
        cities = [{"city": city, "n": n} for n, city in enumerate(["Oslo", "Rome", "Oslo", "Rome", "Oslo"])]
        for code, kind, size, sample in (
            ("frame", "DataFrame", "40,000 rows x 2 columns", cities),
            ("frame[frame.n > 2]", "DataFrame", "39,997 rows x 2 columns", [{"index": 3, "city": "Rome", "n": 3}]),
            (
                "pd.concat([frame.n, frame.n], axis=1)",
                "DataFrame",
                "40,000 rows x 2 columns",
                [{"n": 0, "n_2": 0}, {"n": 1, "n_2": 1}],
            ),
            ("frame.n", "Series", "40,000 values", [0, 1, 2, 3, 4]),
            ("frame.groupby('n').size()", "Series", "40,000 values", {str(n): 1 for n in range(5)}),
            ("{'frame': frame, 'rows': 40_000}", "dict", "2 keys", {"frame": cities, "rows": 40_000}),
            ("np.arange(40_000.0)", "ndarray", "40,000 values", [0.0, 1.0, 2.0, 3.0, 4.0]),
            ("np.zeros((400, 300), 'int8')", "ndarray", "400 x 300 values", [[0] * 5] * 5),
            ("np.array(['yes'] * 9000)", "ndarray", "9,000 values", ["yes"] * 5),
            ("frame.n.to_numpy().reshape(-1, 2).tolist()", "list", "20,000 items", [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]]),
        ):
            with self.subTest(code):
                outcome = self.guest.run(code)
                self.assertIsNone(outcome.error, outcome)
                kept = outcome.kept
                begins = kept["sample"] if isinstance(kept["sample"], dict) else kept["sample"][: len(sample)]
                self.assertEqual((kept["kind"], kept["size"], begins), (kind, size, sample))
                outcome = self.guest.run(f"type(runtime.result({kept['name']!r})).__name__")
                self.assertEqual(outcome.result, kind)

    def test_a_table_is_whole_or_kept(self):
        whole = self.give(1_500_000) or self.guest.run("frame")
        self.assertEqual((len(whole.result), whole.kept), (40_000, None))
        kept = self.give(1_000_000) or self.guest.run("frame.n, frame")
        self.assertFalse(kept.has_result, kept)
        self.assertEqual(self.guest.run("[len(part) for part in runtime.result()]").result, [40_000, 40_000])
        for code in ("frame.n", "frame.index", "frame.n.to_numpy()"):
            self.assertEqual(len(self.guest.run(code).result), 40_000, code)

    def test_columns_of_texts_are_weighed(self):
        self.guest.run("'first' * 3000")
        for _ in range(2):
            self.guest.run("pd.DataFrame({'text': [str(n) * 40_000 for n in range(1000)]}, dtype=object)")
        self.assertEqual(len(self.guest.run("runtime.results()").result), 1)


@needs("pydantic")
class Pydantic(GuestCase):
    def test_models(self):
        self.check(
            "import pydantic\nclass M(pydantic.BaseModel):\n    a: int\n    inner: 'M | None' = None\nM(a=1, inner=M(a=2))",
            {"a": 1, "inner": {"a": 2, "inner": None}},
        )
        self.check("[M(a=1)], M", [[{"a": 1, "inner": None}], "<class '__main__.M'>"])
        self.check_error("M(a='x')", "ValidationError", "1 validation error for M")

    def test_models_from_results(self):
        self.check(
            "M(**(await tools.stub.json(text='{\"a\": 7}'))).a, M.model_validate(await tools.stub.json(text='{\"a\": 8}')).a",
            [7, 8],
        )


@needs("matplotlib")
class Matplotlib(GuestCase):
    def images(self, code, count):
        outcome = self.guest.run("import matplotlib.pyplot as plt\n" + code)
        images = [base64.b64decode(item["data"]) for item in outcome.content if item["type"] == "image"]
        self.assertEqual(len(images), count, outcome.error or outcome.stderr)
        for image in images:
            self.assertTrue(image.startswith(b"\x89PNG"))
        return outcome

    def test_open_figures(self):
        self.assertIsNone(self.images("plt.plot([1, 2])\nplt.show()", 1).error)
        self.images("1", 0)
        self.images("for n in range(3):\n    plt.figure()\n    plt.plot([n])", 3)
        self.images("fig, ax = plt.subplots()\nax.bar(['a'], [1])\nfig", 1)
        self.images("fig = plt.figure()", 0)

    def test_show_says_nothing(self):
        self.assertEqual(self.images("plt.plot([1, 2])\nplt.show()", 1).stderr, b"")

    def test_saved_and_still_open_is_one_image(self):
        path = self.guest.path("results", "chart.png")
        outcome = self.images(f"plt.plot([1, 2])\nplt.savefig({path!r})", 1)
        self.assertEqual(outcome.artifacts, ["chart.png"])

    def test_saved_and_closed(self):
        path = self.guest.path("results", "closed.png")
        self.images(f"plt.plot([3, 4])\nplt.savefig({path!r}, dpi=50)\nplt.close()", 1)

    def test_figures_of_a_failing_run(self):
        self.assertEqual(self.images("plt.plot([1])\n1/0", 1).error["kind"], "ZeroDivisionError")

    def test_a_figure_that_cannot_be_drawn(self):
        outcome = self.images("plt.title('$\\\\frac{$')", 0)
        self.assertIsNone(outcome.error, outcome)
        self.assertIn("could not be drawn", outcome.content[-1]["text"])

    def test_bounded(self):
        outcome = self.images(
            "plt.rcParams['figure.max_open_warning'] = 0\nfor n in range(12):\n    plt.figure(figsize=(1, 1))\n    plt.plot([n, n * n])",
            10,
        )
        self.assertIn("saved as /results/shown-", outcome.content[-1]["text"])


@needs("plotly")
class Plotly(GuestCase):
    def test_a_figure_is_saved_as_a_page(self):
        outcome = self.guest.run("import plotly.graph_objects as go\ngo.Figure(go.Bar(x=['a'], y=[1]))")
        self.assertIsNone(outcome.error, outcome)
        self.assertEqual((outcome.has_result, [part["type"] for part in outcome.content]), (False, ["text"]))
        self.assertRegex(outcome.content[0]["text"], r"^an interactive figure, saved as a page: /results/shown-\d+-1.html \(\d")

    def test_what_would_open_a_window_is_shown(self):
        code = "import plotly.express as px\nfig = px.line(x=[1, 2], y=[3, 4])\nfig.show()\nfig.show(renderer='browser')"
        outcome = self.guest.run(code)
        self.assertIsNone(outcome.error, outcome)
        self.assertIn("an interactive figure, saved as a page", outcome.content[0]["text"])


@needs("PIL")
class Pillow(GuestCase):
    def test_what_would_open_a_window_is_shown(self):
        outcome = self.guest.run("from PIL import Image\nImage.new('RGB', (9, 9)).show()")
        self.assertIsNone(outcome.error, outcome)
        self.assertEqual([part["type"] for part in outcome.content], ["image"])

    def test_a_picture_that_is_shown_and_saved_is_sent_once(self):
        draw = (
            "from PIL import Image, ImageDraw\nfrom codeyard import places\nimage = Image.new('{mode}', (300, 200), 'white')\n"
            "draw = ImageDraw.Draw(image)\ndraw.ellipse((20, 20, 150, 150), fill='red')\n"
        )
        save = "image.save(places.RESULTS + '/{name}')\n"
        for mode, name in (("RGB", "a.png"), ("RGBA", "b.png"), ("P", "c.png"), ("RGB", "d.jpg"), ("RGB", "e.webp")):
            code = draw.format(mode=mode) + save.format(name=name)
            for end in ("show(image)", "image"):
                outcome = self.guest.run(code + end)
                self.assertIsNone(outcome.error, outcome)
                self.assertEqual([part["type"] for part in outcome.content], ["image"], (mode, name, end))
                self.assertEqual([path for path, _ in outcome.files], [f"/results/{name}"])
        # Pictures that differ from the shown one are sent as well.
        for change in ("draw.point((5, 5), fill='black')\n", "image = image.resize((150, 100))\n"):
            outcome = self.guest.run(draw.format(mode="RGB") + "show(image)\n" + change + save.format(name="f.png") + "None")
            self.assertEqual([part["type"] for part in outcome.content], ["image", "image"], change)
        changed = "draw.line((0, 199, 299, 0), fill='black', width=2)\n"
        outcome = self.guest.run(draw.format(mode="RGB") + "show(image)\n" + changed + save.format(name="g.jpg") + "None")
        self.assertEqual([part["type"] for part in outcome.content], ["image", "image"])
