import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LocalGuard } from '@leasehold/local'

/** One line of the ledger: who wrote it, and under which fencing token. */
export interface Entry {
  readonly token: bigint
  readonly writer: string
  readonly id: number
}

/** The resource that only one process may write to: a file, guarded by the fencing token. */
export class Ledger {
  readonly #file: string
  readonly #guard: LocalGuard

  constructor(folder: string) {
    this.#file = fileIn(folder)
    this.#guard = new LocalGuard({ folder })
  }

  /** Throws a `LeaseLostError`, and writes nothing, where a larger token has been seen. */
  write({ token, writer, id }: Entry): void {
    this.#guard.run('ledger', token, () => appendFileSync(this.#file, `${token} ${writer} ${id}\n`))
  }

  close(): Promise<void> {
    return this.#guard.close()
  }
}

export function readLedger(folder: string): readonly Entry[] {
  return linesOf(fileIn(folder)).map((line) => {
    const [token = '', writer = '', id] = line.split(' ')
    return { token: BigInt(token), writer, id: Number(id) }
  })
}

/** Each line of a file that may not be there. */
export function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}

function fileIn(folder: string): string {
  return join(folder, 'ledger.txt')
}
