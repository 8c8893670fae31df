/** States that are still to be looked at, as bytes, each with its number. */
export class StateQueue {
  #bytes = new Uint8Array(1 << 20)
  #end = 0
  #numbers = new Int32Array(1 << 14)
  #starts = new Int32Array(1 << 14)
  #wanted = new Uint8Array(1 << 14)
  #size = 0

  get size(): number {
    return this.#size
  }

  get bytes(): Uint8Array {
    return this.#bytes
  }

  /** `wanted`: the clients whose own steps are to be taken, where the state was looked at before; else 0. */
  push(number: number, bytes: Uint8Array, length: number, wanted: number): void {
    if (this.#size === this.#numbers.length) this.#growPlaces()
    if (this.#end + length > this.#bytes.length) {
      const longer = new Uint8Array(this.#bytes.length * 2)
      longer.set(this.#bytes)
      this.#bytes = longer
    }
    this.#numbers[this.#size] = number
    this.#starts[this.#size] = this.#end
    this.#wanted[this.#size] = wanted
    for (let at = 0; at < length; at += 1) this.#bytes[this.#end + at] = bytes[at] as number
    this.#end += length
    this.#size += 1
  }

  numberAt(place: number): number {
    return this.#numbers[place] as number
  }

  startAt(place: number): number {
    return this.#starts[place] as number
  }

  wantedAt(place: number): number {
    return this.#wanted[place] as number
  }

  clear(): void {
    this.#size = 0
    this.#end = 0
  }

  #growPlaces(): void {
    const length = this.#numbers.length * 2
    const [numbers, starts, wanted] = [new Int32Array(length), new Int32Array(length), new Uint8Array(length)]
    numbers.set(this.#numbers)
    starts.set(this.#starts)
    wanted.set(this.#wanted)
    this.#numbers = numbers
    this.#starts = starts
    this.#wanted = wanted
  }
}
