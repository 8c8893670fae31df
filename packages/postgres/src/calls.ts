import type { Metadata } from '@leasehold/core'
import type { GrantAnswer, RecordAnswer, ReleaseAnswer } from './answers.js'
import type { Operation } from './operation.js'

/** Marks an operation for which the server has done nothing: it needs a statement that may wait for locks. */
export const UNANSWERED = Symbol('unanswered')

/** The calls of a statement, for `leases_run_1`. */
export interface Calls {
  readonly list: readonly (readonly unknown[])[]
  /** The answer to each operation, or `UNANSWERED`, in the order of the operations. */
  answersIn(answers: readonly unknown[]): readonly unknown[]
}

type Column<T> = readonly T[] | null

/** The answer of `leases_acquire_many_1`. The first place is 1. */
type AcquireManyAnswer = readonly [
  granted: readonly [
    places: Column<number>,
    fencingTokens: Column<string>,
    ttls: Column<number | null>,
    previous: Column<Metadata | null>,
    reasons: Column<string | null>,
  ],
  refused: readonly (readonly [place: number, holder: RecordAnswer])[] | null,
]

/** The answer of `leases_release_many_1`. */
type ReleaseManyAnswer = readonly [places: Column<number>, expire: boolean | null]

/** An operation that has a way to do many at once, without waiting for locks. */
interface Bulk {
  readonly operation: string
  /** How many arguments each call has in the operation for many. */
  readonly width: number
  fits(call: readonly unknown[]): boolean
  /** The answers by place. */
  read(answer: unknown): Iterable<readonly [place: number, answer: unknown]>
}

const bulks: Readonly<Record<string, Bulk>> = {
  release: { operation: 'release-many', width: 2, fits: ([, , , metadata]) => metadata === null, read: releasesIn },
  // A place in the queue needs the lock of the queue.
  acquire: { operation: 'acquire-many', width: 5, fits: ([, , , , , , queue]) => queue === false, read: grantsIn },
}

/**
 * Puts operations of a kind into one call. Operations on one name keep their order, in calls of their own. These calls come
 * first, because a statement must not wait for locks while it holds those of later names.
 */
export function callsOf(operations: readonly Operation[]): Calls {
  // One operation alone is done faster by its own call, which also waits.
  if (operations.length === 1)
    return { list: operations.map(({ query }) => query.call), answersIn: (answers) => answers }
  const single: number[] = []
  const many = Object.entries(bulks).map(([kind, bulk]) => ({ kind, bulk, places: [] as number[] }))
  operations.forEach(({ query: { call, leaseName, waitsForLocks } }, place) => {
    const isOnly =
      operations[place - 1]?.query.leaseName !== leaseName && operations[place + 1]?.query.leaseName !== leaseName
    const group = isOnly && waitsForLocks !== true ? many.find(({ kind }) => kind === call[0]) : undefined
    const places = group?.bulk.fits(call) ? group.places : single
    places.push(place)
  })
  // So is one that is the only one of its kind.
  for (const { places } of many) if (places.length === 1) single.push(...places.splice(0))
  single.sort((a, b) => a - b)
  const groups = many.filter(({ places }) => places.length > 0)
  const callAt = (place: number): readonly unknown[] => operations[place]?.query.call ?? []
  return {
    list: [
      ...single.map(callAt),
      ...groups.map(({ bulk: { operation, width }, places }) => [
        operation,
        ...Array.from({ length: width }, (_, column) => places.map((place) => callAt(place)[column + 1])),
      ]),
    ],
    answersIn: (answers) => {
      const found: unknown[] = operations.map(() => UNANSWERED)
      single.forEach((place, index) => {
        found[place] = answers[index]
      })
      groups.forEach(({ bulk, places }, index) => {
        for (const [place, answer] of bulk.read(answers[single.length + index])) found[places[place - 1] ?? -1] = answer
      })
      return found
    },
  }
}

function* grantsIn(answer: unknown): Generator<readonly [number, GrantAnswer]> {
  const [[places, tokens, ttls, previous, reasons], refused] = answer as AcquireManyAnswer
  for (const [index, place] of (places ?? []).entries()) {
    const left = [previous?.[index] ?? null, reasons?.[index] ?? null] as const
    yield [place, ['granted', tokens?.[index] ?? '', ttls?.[index] ?? null, ...left]]
  }
  for (const [place, holder] of refused ?? []) yield [place, ['refused', false, holder]]
}

function* releasesIn(answer: unknown): Generator<readonly [number, ReleaseAnswer]> {
  const [places] = answer as ReleaseManyAnswer
  for (const place of places ?? []) yield [place, ['released']]
}
