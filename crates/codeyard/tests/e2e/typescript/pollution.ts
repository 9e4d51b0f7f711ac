// Replaces built-in methods, then makes a call and returns its value.
Object.defineProperty(Object.prototype, "polluted", { value: "evil", enumerable: true, configurable: true });
Array.prototype.push = Array.prototype.map = Array.prototype.join = () => {
  throw new Error("replaced");
};
Map.prototype.get = Map.prototype.set = Map.prototype.delete = () => undefined as any;
String.prototype.slice = String.prototype.includes = () => "replaced" as any;
JSON.stringify = () => "{}";
JSON.parse = () => "replaced";
Function.prototype.apply = Function.prototype.call = () => {
  throw new Error("replaced");
};
const { sum } = await tools.stub.add({ a: 1, b: 2 });
return sum;
