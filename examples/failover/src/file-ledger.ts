import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { LocalGuard } from '@leasehold/local'
import { type Entry, type Ledger, parseLedger, toLine } from './ledger.js'
import { textOf } from './text-of.js'

/** A ledger in a local file. The fencing guard `LocalGuard` checks the tokens. */
export class FileLedger implements Ledger {
  readonly #file: string
  readonly #guard: LocalGuard

  constructor(folder: string) {
    this.#file = fileIn(folder)
    this.#guard = new LocalGuard({ folder })
  }

  async write(entry: Entry): Promise<void> {
    this.#guard.transact('ledger', entry.token, () => appendFileSync(this.#file, toLine(entry)))
  }

  close(): Promise<void> {
    return this.#guard.close()
  }
}

export async function readFileLedger(folder: string): Promise<readonly Entry[]> {
  return parseLedger(textOf(fileIn(folder)))
}

function fileIn(folder: string): string {
  return join(folder, 'ledger.txt')
}
