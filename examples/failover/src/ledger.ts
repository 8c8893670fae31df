/** One line of the ledger, with its writer and fencing token. */
export interface Entry {
  readonly token: bigint
  readonly writer: string
  readonly id: number
}

/** The protected resource. It checks the fencing token of each write. */
export interface Ledger {
  /** Rejects with a `LeaseLostError` and writes nothing if a larger token was used before. */
  write(entry: Entry): Promise<void>
  close(): Promise<void>
}

export function toLine({ token, writer, id }: Entry): string {
  return `${token} ${writer} ${id}\n`
}

/** Parses lines written by {@link toLine}. */
export function parseLedger(text: string): readonly Entry[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [token = '', writer = '', id] = line.split(' ')
      return { token: BigInt(token), writer, id: Number(id) }
    })
}
