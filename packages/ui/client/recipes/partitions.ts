import type { GroupView } from '../../src/protocol.js'

export type Range = readonly [first: number, last: number]

/** Runs of partitions that follow one another. */
export function rangesOf(partitions: readonly number[]): Range[] {
  const ranges: [number, number][] = []
  for (const partition of [...partitions].sort((a, b) => a - b)) {
    const last = ranges.at(-1)
    if (last !== undefined && partition <= last[1] + 1) last[1] = partition
    else ranges.push([partition, partition])
  }
  return ranges
}

/** Such as `0–5, 9`. */
export function rangesText(ranges: readonly Range[]): string {
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(', ')
}

/** One path for all cells of a worker: a thousand partitions are a thousand times less work than a thousand elements. */
export function pathOf(ranges: readonly Range[], top: number, height: number): string {
  return ranges.map(([first, last]) => `M${first} ${top}h${last + 1 - first}v${height}h${first - last - 1}z`).join('')
}

/** The lines between all cells. */
export function bordersOf(partitions: number): string {
  return Array.from({ length: Math.max(0, partitions - 1) }, (_, index) => `M${index + 1} 0v1`).join('')
}

export interface Ownership {
  /** Partitions that nobody holds. */
  readonly unowned: readonly number[]
  /** Partitions that more than one worker holds: this must not be. */
  readonly doubled: readonly number[]
}

export function ownershipOf({ partitions, members }: GroupView): Ownership {
  const owners = new Uint16Array(partitions)
  for (const { held, draining } of members) {
    for (const partition of new Set([...held, ...draining])) {
      if (partition >= 0 && partition < partitions) owners[partition] = (owners[partition] ?? 0) + 1
    }
  }
  const unowned: number[] = []
  const doubled: number[] = []
  owners.forEach((count, partition) => {
    if (count === 0) unowned.push(partition)
    else if (count > 1) doubled.push(partition)
  })
  return { unowned, doubled }
}
