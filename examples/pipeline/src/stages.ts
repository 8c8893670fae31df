import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LocalGuard } from '@leasehold/local'
import type { Stage } from './stage.js'

/** The files of the pipeline: each stage reads the one before its own. */
export const files = ['orders.txt', 'ingested.txt', 'transformed.txt', 'published.txt'] as const

export const stageNames = ['ingest', 'transform', 'publish'] as const

export type StageName = (typeof stageNames)[number]

const converters: Readonly<Record<StageName, (item: string) => string>> = {
  ingest: (order) => JSON.stringify({ order }),
  transform: (text) => JSON.stringify({ order: JSON.parse(text).order.toUpperCase() }),
  publish: (text) => `published ${JSON.parse(text).order}`,
}

/** A stage over two files. `work` is done for each item, before its result is written. */
export function createStage(
  folder: string,
  name: StageName,
  guard: LocalGuard,
  work: (item: string) => Promise<void>,
): Stage {
  const place = stageNames.indexOf(name)
  const [input = '', output = ''] = files.slice(place, place + 2).map((file) => join(folder, file))
  return {
    name,
    source: () => linesOf(input),
    convert: async (item) => {
      await work(item)
      return converters[name](item)
    },
    write: (position, result, fencingToken) => {
      // The guard refuses a holder that was stopped, and does not know that it has a successor.
      guard.transact(output, fencingToken, () => {
        // The last holder may have died between this write and that of its position.
        if (linesOf(output).length === position) appendFileSync(output, `${result}\n`)
      })
    },
  }
}

/** The complete lines of a file. */
export function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
}
