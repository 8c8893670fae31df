import { shownText } from '@leasehold/core/internal'
import type { GroupMember } from '@leasehold/recipes'
import type { Action } from '../command-declaration.js'
import type { shards as declaration } from '../declarations.js'
import { exitCodes } from '../exit-codes.js'
import { openStore } from '../store-selection.js'
import { type Cell, writeTable } from '../table.js'
import { writeJSON } from '../terminal.js'

/** Prints which process has which shards, and those that none has. */
export const showShards: Action<typeof declaration> = async ({ operands, options }, terminal) => {
  const [name = ''] = operands
  await using opened = await openStore(options, name, terminal)
  const { store, settings } = opened
  const { timeout = settings.timeouts.operationTimeout } = options
  const { readPartitionGroup } = await import('@leasehold/recipes')
  const members = await readPartitionGroup(store, name, { timeout, clock: terminal.clock })
  const unowned = unownedIn(members)
  if (options.output === 'json') writeJSON(terminal, { name, ...groupJSON(members), unowned })
  else {
    const rows = members.map(rowOf)
    if (unowned.length > 0) {
      rows.push(['-', '-', String(unowned.length), '-', '-', ['no owner', 'red'], rangesText(unowned)])
    }
    writeTable(terminal, ['OWNER', 'ADDRESS', 'SHARDS', 'ENTITIES', 'MOVES', 'STATE', 'NUMBERS'], rows)
  }
  if (members.length > 0) return exitCodes.ok
  const message = `no process of '${shownText(name)}' is there: look at the name and the store, or for its records with`
  terminal.errors.write(`leasehold: ${message} leasehold list ${shownText(name)}/\n`)
  return exitCodes.no
}

function groupJSON(members: readonly GroupMember[]): object {
  const shown = members.map(({ owner, metadata, ...member }) => {
    const [entities, moves] = [countIn(metadata.entities), countIn(metadata.moves)]
    return { owner, address: metadata.address, entities, moves, ...member, metadata }
  })
  const counts = shown.flatMap(({ entities }) => entities ?? [])
  const entities = counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0)
  return { shards: numberIn(members), entities, members: shown }
}

function rowOf({ owner, metadata, held, draining, claimed, isLeaving }: GroupMember): readonly Cell[] {
  const numbers = [
    rangesText(held),
    ...(draining.length > 0 ? [`drains ${rangesText(draining)}`] : []),
    ...(claimed.length > 0 ? [`claims ${rangesText(claimed)}`] : []),
  ]
  const counts = [String(held.length + draining.length), countText(metadata.entities), countText(metadata.moves)]
  const state = stateOf({ held, draining, isLeaving })
  return [owner, metadata.address || '-', ...counts, state, numbers.filter((text) => text !== '').join(', ') || '-']
}

function stateOf({ held, draining, isLeaving }: Pick<GroupMember, 'held' | 'draining' | 'isLeaving'>): Cell {
  if (isLeaving) return ['leaving', 'yellow']
  if (draining.length > 0) return ['draining', 'yellow']
  return held.length === 0 ? ['joining', 'dim'] : ['working', 'green']
}

/** The largest number of shards that a process has in its options: during a deployment, there can be two. */
function numberIn(members: readonly GroupMember[]): number {
  return Math.max(0, ...members.map(({ partitions }) => partitions))
}

function unownedIn(members: readonly GroupMember[]): readonly number[] {
  const owned = new Set(members.flatMap(({ held, draining }) => [...held, ...draining]))
  return Array.from({ length: numberIn(members) }, (_, shard) => shard).filter((shard) => !owned.has(shard))
}

/** `0-15, 18`. */
function rangesText(numbers: readonly number[]): string {
  const ranges: { readonly first: number; last: number }[] = []
  for (const number of numbers) {
    const range = ranges.at(-1)
    if (range?.last === number - 1) range.last = number
    else ranges.push({ first: number, last: number })
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(', ')
}

/** A count that a process shows; `undefined` where it shows none. */
function countIn(text: string | undefined): number | undefined {
  return /^\d{1,15}$/.test(text ?? '') ? Number(text) : undefined
}

function countText(text: string | undefined): string {
  return String(countIn(text) ?? '-')
}
