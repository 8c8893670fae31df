import { join } from 'node:path'
import { temporaryFolder } from '@leasehold/testing'
import { onTestFinished } from 'vitest'
import { LeaseFolder } from '../../src/lease-folder.js'
import { RegisterLog, type RegisterLogOptions } from '../../src/register-log.js'
import type { RegisterKind } from '../../src/register-table.js'

export type TextLog = RegisterLog<string, string>

/** Registers of text, to which each change appends. */
export const text: RegisterKind<string, string> = {
  apply: (value = '', change) => value + change,
  whole: (value) => value,
}

interface LogFixture {
  readonly path: string
  readonly log: TextLog
  readonly file: string
}

export function openLog(
  path = temporaryFolder(),
  options: Partial<RegisterLogOptions<string, string>> = {},
): LogFixture {
  const folder = new LeaseFolder({ folder: path })
  const log = new RegisterLog({ folder, file: 'test.mdb', durable: false, kind: text, ...options })
  onTestFinished(() => log.close())
  return { path, log, file: join(path, 'test.mdb') }
}

/** Changes one register as the log is now. */
export function put(log: TextLog, key: string, change: string): boolean {
  return log.attempt([{ key, change }]).accepted[0] === true
}

export function read(log: TextLog, key: string): string | undefined {
  log.refresh()
  return log.get(key)
}
