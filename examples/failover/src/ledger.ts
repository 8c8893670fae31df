/** One line of the ledger: who wrote it, and under which fencing token. */
export interface Entry {
  readonly token: bigint
  readonly writer: string
  readonly id: number
}

/** The resource that only one process may write to, guarded by the fencing token. */
export interface Ledger {
  /** Rejects with a `LeaseLostError`, and writes nothing, where a larger token has been seen. */
  write(entry: Entry): Promise<void>
  close(): Promise<void>
}

export function toLine({ token, writer, id }: Entry): string {
  return `${token} ${writer} ${id}\n`
}

/** What {@link toLine} has written. */
export function parseLedger(text: string): readonly Entry[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [token = '', writer = '', id] = line.split(' ')
      return { token: BigInt(token), writer, id: Number(id) }
    })
}
