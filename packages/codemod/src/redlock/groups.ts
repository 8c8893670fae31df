/** Things that belong together, directly or through others. */
export class Groups<T> {
  readonly #parents = new Map<T, T>()

  join(a: T, b: T): void {
    this.#parents.set(this.groupOf(a), this.groupOf(b))
  }

  /** One member that stands for all of its group. */
  groupOf(member: T): T {
    let root = member
    for (let parent = this.#parents.get(root); parent !== undefined && parent !== root; ) {
      root = parent
      parent = this.#parents.get(root)
    }
    return root
  }
}
