import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Notice } from '../history/history.js'
import type { Operation } from '../history/operation.js'
import { fromLine, type RecordLine } from './record-line.js'

export interface Records {
  readonly operations: Operation[]
  readonly notices: Notice[]
}

/** All that the processes have recorded in this folder, in the order in which it happened. */
export function mergeRecords(folder: string): Records {
  const operations: Operation[] = []
  const notices: Notice[] = []
  for (const file of readdirSync(folder)) {
    if (!file.endsWith('.jsonl')) continue
    const last = new Map<number, Operation>()
    for (const line of wholeLines(readFileSync(join(folder, file), 'utf8'))) {
      if ('notice' in line) notices.push(line)
      else last.set(line.id, line)
    }
    operations.push(...last.values())
  }
  operations.sort((left, right) => left.from - right.from)
  notices.sort((left, right) => left.at - right.at)
  return { operations: operations.map((operation, place) => ({ ...operation, id: place + 1 })), notices }
}

/** A process that is killed may leave half a line. */
function wholeLines(text: string): RecordLine[] {
  const lines = text.split('\n')
  lines.pop()
  return lines.filter((line) => line !== '').map(fromLine)
}
