// task: Keep my reading list in the memory graph: add two books, mark one as finished, and list the unfinished ones.
// expect: ["Dune16"]
abstract class GraphStore<T extends { name: string }> {
  constructor(protected readonly entityType: string) {}
  protected abstract serialize(item: T): string[];
  protected abstract deserialize(name: string, observations: string[]): T;

  async add(...items: T[]): Promise<void> {
    await tools.memory.create_entities({
      entities: items.map((i) => ({ name: i.name, entityType: this.entityType, observations: this.serialize(i) })),
    });
  }
  async all(): Promise<T[]> {
    const { entities } = await tools.memory.search_nodes({ query: this.entityType });
    return entities
      .filter((e) => e.entityType === this.entityType)
      .map((e) => this.deserialize(e.name, e.observations));
  }
}

interface Book { name: string; author: string; finished?: boolean }

class ReadingList extends GraphStore<Book> {
  constructor() { super("book16"); }
  protected serialize(b: Book) { return [`author: ${b.author}`]; }
  protected deserialize(name: string, obs: string[]): Book {
    const author = obs.find((o) => o.startsWith("author: "))?.slice(8) ?? "unknown";
    return { name, author, finished: obs.includes("finished") };
  }
  async finish(name: string) {
    await tools.memory.add_observations({ observations: [{ entityName: name, contents: ["finished"] }] });
  }
}

const list = new ReadingList();
await list.add({ name: "Dune16", author: "Frank Herbert" }, { name: "Emma16", author: "Jane Austen" });
await list.finish("Emma16");
return (await list.all()).filter((b) => !b.finished).map((b) => b.name);
