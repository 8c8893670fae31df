import type { Random } from '../../../packages/testkit/src/random.js'
import type { VirtualTime } from '../../../packages/testkit/src/time/virtual-time.js'
import type { NonsenseKind, PlannedFault } from './planned-fault.js'

/** The methods for which `undefined` is a valid answer. */
const mayBeUndefined: ReadonlySet<string> = new Set(['read', 'create', 'replace', 'withdraw'])

/** The methods for which `casStore` accepts any answer as a write. */
const unchecked: ReadonlySet<string> = new Set(['create', 'replace'])

/** The kinds that answer with another value than the server's. */
const answering: ReadonlySet<NonsenseKind | undefined> = new Set<NonsenseKind>(['garbled', 'agreeing', 'thrown'])

/** Spoils the answers of the client of one process while a fault of the plan lasts. */
export class Nonsense {
  readonly #faults: readonly Extract<PlannedFault, { kind: 'nonsense' }>[]
  readonly #time: VirtualTime
  readonly #random: Random

  constructor(node: number, faults: readonly PlannedFault[], time: VirtualTime, random: Random) {
    this.#faults = faults.filter((fault) => fault.kind === 'nonsense').filter((fault) => fault.node === node)
    this.#time = time
    this.#random = random
  }

  /** Answers as the plan says: `ask` sends the request and waits for the answer, `send` does not wait. */
  answer<T>(method: string, ask: () => Promise<T>, send: () => void): Promise<T> {
    const kind = this.#kind
    if (kind === undefined || (answering.has(kind) && unchecked.has(method))) return ask()
    const random = this.#random
    switch (kind) {
      case 'garbled':
        return ask().then((answer) => garble(random, method, answer))
      case 'agreeing':
        return Promise.resolve(agreeing as T)
      case 'unprintable':
        this.#perhaps(send)
        return Promise.reject(unprintable(random))
      case 'thrown':
        this.#perhaps(send)
        if (random.chance(0.5)) throw unprintable(random)
        return random.pick<unknown>([mayBeUndefined.has(method) ? 5 : undefined, null, 'later', {}]) as Promise<T>
      case 'twice':
        return twice(ask(), random.fork(0))
      case 'never':
        this.#perhaps(send)
        return new Promise(() => {})
    }
  }

  /** A watch of the store, or an invalid value. */
  watch<T>(start: () => AsyncIterable<T>): AsyncIterable<T> {
    const kind = this.#kind
    if (kind === undefined) return start()
    if (kind === 'thrown') throw unprintable(this.#random)
    return this.#random.pick<unknown>([undefined, 5, {}, failing(this.#random.fork(0))]) as AsyncIterable<T>
  }

  get #kind(): NonsenseKind | undefined {
    if (this.#faults.length === 0) return undefined
    const { now } = this.#time
    const fault = this.#faults.find(({ at, for: length }) => now >= at && now < at + length)
    return fault !== undefined && this.#random.chance(fault.probability) ? fault.answer : undefined
  }

  /** Sends the request or not; the caller cannot know. */
  #perhaps(send: () => void): void {
    if (this.#random.chance(0.5)) send()
  }
}

/** A thenable of a client library that settles twice. */
function twice<T>(answered: Promise<T>, random: Random): Promise<T> {
  const [again, other] = [random.chance(0.5), random.chance(0.5)]
  const then = (resolve: (answer: T) => unknown, reject: (failure: unknown) => unknown): void => {
    answered.then(
      (answer) => {
        resolve(answer)
        if (again) resolve(answer)
        if (other) reject(new Error('after all, it failed'))
      },
      (failure) => {
        reject(failure)
        if (again) reject(failure)
      },
    )
  }
  return Object.fromEntries([['then', then]]) as unknown as Promise<T>
}

function failing(random: Random): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(unprintable(random)) }) }
}

/** A value that `String()` cannot convert, or that is not an error. */
function unprintable(random: Random): unknown {
  return random.pick<unknown>([
    Object.create(null),
    Symbol('of no use'),
    undefined,
    null,
    {
      toString() {
        throw new TypeError('not to be printed')
      },
    },
    Object.defineProperty(new Error(), 'message', {
      get() {
        throw new TypeError('not to be read')
      },
    }),
  ])
}

/** The answer with one of its parts replaced, or another value. */
function garble<T>(random: Random, method: string, answer: T): T {
  const isWhole = random.chance(0.3)
  if (isWhole || typeof answer !== 'object' || answer === null) {
    const nothing = mayBeUndefined.has(method) ? null : undefined
    return random.pick<unknown>([nothing, null, 5, 'yes', [], {}, agreeing]) as T
  }
  return garblePart(random, answer) as T
}

/** Looks like a confirmation of any request. */
const agreeing = { granted: 'yes', renewed: 'yes', released: 'yes' }

function garblePart(random: Random, whole: object): object {
  // The name in a record is not checked.
  const parts = Object.entries(whole).filter(([key]) => key !== 'name')
  const copy = Array.isArray(whole) ? [...whole] : { ...whole }
  const [key, value] = parts[random.whole(0, parts.length - 1)] ?? ['surplus', undefined]
  const goesDeeper = typeof value === 'object' && value !== null && random.chance(0.7)
  Reflect.set(copy, key, goesDeeper ? garblePart(random, value) : otherThan(random, value))
  return copy
}

/** A value of another type. A value of the same type could pass for a valid answer. */
function otherThan(random: Random, value: unknown): unknown {
  switch (typeof value) {
    case 'bigint':
      return random.pick<unknown>([undefined, null, Number(value), String(value), Number.NaN])
    case 'number':
      return random.pick<unknown>([undefined, null, Number.NaN, -1, 'soon', 1n])
    case 'boolean':
      return random.pick<unknown>([undefined, null, 'perhaps', 5, {}])
    default:
      return random.pick<unknown>([undefined, null, Number.NaN, 5, [], {}])
  }
}
