import { shownText } from '@leasehold/core/internal'
import { parsedJSON } from '@leasehold/core/store-kit'
import { misconfigured } from './failure-of.js'
import type { LogFile } from './log-file.js'

/** The version of the lines; raised if an older version would misread them. Version 1 was an lmdb database. */
const SCHEMA = 4

const LONGEST_HEADER = 4_096

/** Facts that hold for a log as a whole. */
export type LogFacts = Readonly<Record<string, string>>

/** The first line of a log. */
export interface LogHeader {
  /** Counts the files that replaced each other. */
  readonly generation: number
  /** The size of the first lines, which were copied from the log before, in characters. */
  readonly begun: number
  readonly facts: LogFacts
}

/** A register by its number in this log, or by its key. Only a key creates a register. */
export type RegisterReference = number | string

/**
 * A change of one or more registers. It is in force for a register if no change of this register that starts at `base` or
 * later is in force: the writer then knew all changes of the register.
 */
export interface ChangeLine<C> {
  /** Identifies the attempt of the writer. */
  readonly id: string
  /** The position up to which the writer had read the log. */
  readonly base: number
  readonly registers: readonly RegisterReference[]
  readonly change: C
}

/** The base of a change that is in force in any case. */
export const ALWAYS = Number.MAX_SAFE_INTEGER

/**
 * Ends the log in favour of the file `next`. It is in force if no change that starts at `base` or later is in force: the
 * writer then knew all changes.
 */
export interface SealLine {
  readonly base: number
  readonly next: string
}

export function headerLine(header: LogHeader): string {
  return JSON.stringify({ leasehold: 'local', schema: SCHEMA, ...header })
}

/** `text`: that of the change, if the caller has it already. */
export function changeLine<C>({ id, base, registers, change }: ChangeLine<C>, text = JSON.stringify(change)): string {
  return `[${JSON.stringify(id)},${base},${JSON.stringify(registers)},${text}]`
}

export function sealLine(seal: SealLine): string {
  return JSON.stringify({ seal })
}

/** `undefined` for the header, for a line that was cut short, and for any other text. */
export function parseLine<C>(line: string): { readonly change?: ChangeLine<C>; readonly seal?: SealLine } | undefined {
  // No part of an array or object is valid JSON by itself.
  const parsed = parsedJSON(line)
  if (Array.isArray(parsed) && parsed.length === 4) {
    const [id, base, registers, change] = parsed as [string, number, RegisterReference[], C]
    return { change: { id, base, registers, change } }
  }
  if (typeof parsed !== 'object' || parsed === null || !('seal' in parsed)) return undefined
  return { seal: parsed.seal as SealLine }
}

/** The header of the log at `path`. Throws if the file is not a log, or has another version. */
export function readHeader(file: LogFile, path: string): LogHeader {
  const [line = ''] = file.head(LONGEST_HEADER).trimStart().split('\n')
  const header: LogHeader & { readonly leasehold?: unknown; readonly schema?: number } = Object(parsedJSON(line))
  if (header.leasehold !== 'local') {
    throw misconfigured(
      `${path} is not a lease database, or is damaged: stop the processes that use the folder, move the file away, ` +
        'and start them again; or choose another folder',
    )
  }
  if (header.schema === SCHEMA) return header
  throw misconfigured(
    `the lease database ${path} has version ${shownText(String(header.schema))}, and this package needs ${SCHEMA}: ` +
      'use the same version of @leasehold/local in all processes of the folder',
  )
}
