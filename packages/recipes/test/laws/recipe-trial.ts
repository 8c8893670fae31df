import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { CreateLeaseOptions, LeaseStore } from '@leasehold/core'
import {
  FaultyStore,
  type LawOutcome,
  type Machine,
  type PassingTime,
  type StoreAbility,
  type StoreBackend,
  type StoreOperation,
  type StoreSubject,
  type VirtualClock,
} from '@leasehold/testkit'
import { checkIn } from '../../../testkit/src/laws/law.js'
import { timeOf } from '../../../testkit/src/laws/passing-time.js'
import { storeAbilities } from '../../../testkit/src/laws/store-abilities.js'
import { longestOf, ttlOf } from '../../../testkit/src/laws/store-trial.js'
import { Random } from '../../../testkit/src/random.js'
import { silentLogger } from '../../../testkit/src/silent-logger.js'

/** A rule that a recipe has to keep on every store. */
export interface RecipeLaw<Recipe, Options> {
  readonly name: string
  /** The abilities of a store that the law needs. */
  readonly needs: readonly StoreAbility[]
  readonly check: (trial: RecipeTrial<Recipe, Options>) => Promise<void>
}

/** The place of one instance of a recipe in a trial: a process of its own, on a machine of its own. */
export class RecipePlace {
  /** The name for the recipe; all instances of a trial share it unless they ask for another. */
  readonly name: string
  /** The client of this process; faults can be added to it. */
  readonly store: FaultyStore
  /** The options of its leases: owner, timeouts, clock, logger and random numbers. */
  readonly leaseOptions: CreateLeaseOptions & { readonly owner: string }
  /** The calls to the store so far, without listings and watches. */
  readonly calls: StoreOperation[] = []
  readonly #machine: Machine
  #isCut = false

  constructor(name: string, client: LeaseStore, leaseOptions: RecipePlace['leaseOptions'], machine: Machine) {
    this.name = name
    this.store = new FaultyStore(client, {
      clock: machine.clock,
      plan: ({ operation }) => {
        this.calls.push(operation)
        return this.#isCut ? { kind: 'hang' } : undefined
      },
    })
    this.leaseOptions = leaseOptions
    this.#machine = machine
  }

  /** The machine that it runs on, where time is virtual: it can be paused, suspended and set. */
  get machine(): VirtualClock {
    assert(this.#machine.virtual !== undefined)
    return this.#machine.virtual
  }

  /** The wall clock of its machine, where time is virtual: for recipes that read one. */
  get now(): (() => Date) | undefined {
    const { virtual } = this.#machine
    return virtual === undefined ? undefined : () => new Date(virtual.wall())
  }

  /** From now on the store gives no answer to this process. */
  cutOff(): void {
    this.#isCut = true
  }

  heal(): void {
    this.#isCut = false
  }
}

/** A recipe over a kind of store, as the laws see it. */
export interface RecipeSubject<Recipe, Options> {
  /** For test names. */
  readonly name: string
  readonly store: StoreSubject
  create(place: RecipePlace, options: Options): Recipe
}

/** The settings of a place that a law asks for. */
export interface PlaceOptions {
  readonly owner?: string
  readonly name?: string
  /** By how much the clock of its machine runs fast. */
  readonly drift?: number
  /** By how much its wall clock is ahead, in milliseconds. */
  readonly skew?: number
}

/** The surroundings of one law over a recipe. */
export class RecipeTrial<Recipe, Options> {
  readonly name = `law-${randomUUID()}`
  readonly ttl: number
  /** How long a name stays taken after the last heartbeat of its holder, in milliseconds. */
  readonly longest: number
  readonly time: PassingTime
  readonly #subject: RecipeSubject<Recipe, Options>
  readonly #backend: StoreBackend
  /** Beside those of the places. */
  readonly #client: LeaseStore
  readonly #places: RecipePlace[]
  readonly #ends: (() => unknown)[] = []
  readonly #random = new Random(1)

  private constructor(
    subject: RecipeSubject<Recipe, Options>,
    time: PassingTime,
    backend: StoreBackend,
    client: LeaseStore,
    places: RecipePlace[],
  ) {
    this.#subject = subject
    this.time = time
    this.ttl = ttlOf(subject.store)
    this.longest = longestOf(this.ttl, client)
    this.#backend = backend
    this.#client = client
    this.#places = places
  }

  static async begin<Recipe, Options>(subject: RecipeSubject<Recipe, Options>): Promise<RecipeTrial<Recipe, Options>> {
    const places: RecipePlace[] = []
    const time = timeOf(subject.store, () => places.some(({ store }) => store.inProgress > 0))
    const { clock } = time.createMachine()
    const backend = await subject.store.start(clock)
    return new RecipeTrial(subject, time, backend, await backend.open(clock), places)
  }

  /** Why the subject cannot run a law with these needs. */
  async lacks(needs: readonly StoreAbility[]): Promise<string | undefined> {
    const able = { subject: this.#subject.store, backend: this.#backend, client: this.#client }
    return needs.map((need) => storeAbilities[need]).find(([has]) => !has(able))?.[1]
  }

  /** A place for one more instance. */
  async place(options: PlaceOptions = {}): Promise<RecipePlace> {
    const { owner = `owner-${this.#places.length}`, name = this.name, drift, skew } = options
    const machine = this.time.createMachine({ drift, skew })
    const { clock } = machine
    const client = await this.#backend.open(clock)
    const { ttl } = this
    const leaseOptions = {
      owner,
      heartbeatTimeout: ttl,
      heartbeatInterval: ttl / 10,
      // In real time a busy machine needs more of it.
      operationTimeout: this.time.isVirtual ? ttl / 20 : ttl / 6,
      clock,
      logger: silentLogger,
      random: () => this.#random.next(),
    }
    const place = new RecipePlace(name, client, leaseOptions, machine)
    this.#places.push(place)
    return place
  }

  /** One more instance, in a place of its own unless given. */
  async create(options: Options, place?: RecipePlace): Promise<Recipe> {
    return this.#subject.create(place ?? (await this.place()), options)
  }

  /** Calls `end` at the end of the trial: the last added is called first. */
  atEnd(end: () => unknown): void {
    this.#ends.push(end)
  }

  pass(duration: number): Promise<void> {
    return this.time.pass(duration)
  }

  /** Lets time pass while a call is under way; fails where that takes longer than any call may. */
  during<T>(promise: Promise<T>, longest = 5 * this.ttl + this.longest): Promise<T> {
    return this.time.until(promise, longest)
  }

  /** Lets time pass until a condition is true. */
  async until(description: string, isTrue: () => boolean, longest = 5 * this.ttl + this.longest): Promise<void> {
    const step = this.ttl / 200
    for (let passed = 0; !isTrue(); passed += step) {
      if (passed > longest) assert.fail(`not within ${longest} ms: ${description}`)
      await this.pass(step)
    }
  }

  async end(): Promise<void> {
    for (const place of this.#places) place.heal()
    for (const end of this.#ends.reverse()) await this.during(Promise.allSettled([(async () => end())()]))
    for (const { store } of this.#places) await store.close()
    await this.#backend.stop?.()
  }
}

/** Returns a function that makes laws of one recipe, by their names. `given`: what each check gets after its trial. */
export function recipeLawsWith<Recipe, Options, Given extends readonly unknown[] | []>(
  given: (trial: RecipeTrial<Recipe, Options>) => Promise<Given>,
) {
  return (
    needs: readonly StoreAbility[],
    checks: Readonly<Record<string, (trial: RecipeTrial<Recipe, Options>, ...given: Given) => Promise<void>>>,
  ): readonly RecipeLaw<Recipe, Options>[] =>
    Object.entries(checks).map(([name, check]) => ({
      name,
      needs,
      check: async (trial) => check(trial, ...(await given(trial))),
    }))
}

/** Checks one law in a trial of its own. Rejects where it is broken. */
export async function checkRecipeLaw<Recipe, Options>(
  law: RecipeLaw<Recipe, Options>,
  subject: RecipeSubject<Recipe, Options>,
): Promise<LawOutcome> {
  return await checkIn(await RecipeTrial.begin(subject), law)
}
