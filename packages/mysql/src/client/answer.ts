/** The answer to a statement. */
export interface Answer {
  readonly rows: readonly unknown[]
  /** How many rows were changed. */
  readonly affected: number
  /** The last `last_insert_id(…)` of the statement. */
  readonly insertId: bigint
  /** Whether the server says that a transaction of an earlier statement is open. */
  readonly inTransaction: boolean
}

/** The outcome of a statement that writes, in mysql2 and in mariadb. */
interface Written {
  readonly affectedRows?: number
  readonly insertId?: number | bigint | string | null
  readonly serverStatus?: number
}

/** The bit of the server's status for an open transaction. */
export const IN_TRANSACTION = 1

/** Reads what a client returns for one statement: rows, or an object about what was written; in mysql2, with the columns. */
export function answerOf(result: unknown): Answer {
  const found = withoutColumns(result)
  if (Array.isArray(found)) return { rows: found, affected: 0, insertId: 0n, inTransaction: false }
  const { affectedRows = 0, insertId, serverStatus = 0 } = (found ?? {}) as Written
  return {
    rows: [],
    affected: Number(affectedRows),
    insertId: BigInt(insertId ?? 0),
    inTransaction: (serverStatus & IN_TRANSACTION) !== 0,
  }
}

/** mysql2 returns a pair: the rows, which may be arrays, and the columns. */
function withoutColumns(result: unknown): unknown {
  if (!Array.isArray(result) || result.length !== 2) return result
  const [first, columns] = result
  return Array.isArray(columns) || columns === undefined ? first : result
}

/** The only column of a row, which options of a client may have put into an array or an object of its table. */
export function columnIn(row: unknown): string | undefined {
  let found = row
  while (typeof found === 'object' && found !== null && !Buffer.isBuffer(found)) found = Object.values(found)[0]
  return found === undefined || found === null ? undefined : String(found)
}

/** The only column of the first row. */
export function textIn({ rows }: Answer): string | undefined {
  return columnIn(rows[0])
}
