import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { parseArgs } from 'node:util'
import { type ChangedFile, changeRedlock, type RedlockChanges } from './redlock/change-redlock.js'
import { UsageError } from './usage-error.js'

/** Where the program writes, and from where paths are shown. */
export interface Terminal {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
  cwd(): string
}

const help = `Changes code that uses redlock 4 or 5 to Leasehold where it is sure, and lists the rest.

  leasehold-codemod redlock [--dry-run] FOLDER...

  --dry-run   prints the changed lines and writes nothing
  --help      prints this text

Give all folders whose code shares an instance of redlock: it is changed together or not at all.

Exit codes: 0 nothing is left to do by hand, 1 something is listed, 2 the command line is wrong.
`

/** Carries out a command line, and returns the exit code. */
export function codemod(args: readonly string[], terminal: Terminal): number {
  try {
    const { help: asksForHelp, dryRun, folders } = parsed(args)
    if (asksForHelp) {
      terminal.stdout.write(help)
      return 0
    }
    const changes = changeRedlock(folders)
    if (!dryRun) for (const { file, text } of changes.changed) write(file, text)
    terminal.stdout.write(report(changes, dryRun, terminal.cwd()))
    return changes.leftovers.length === 0 ? 0 : 1
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    terminal.stderr.write(`leasehold-codemod: ${error.message}\n`)
    return 2
  }
}

function write(file: string, text: string): void {
  try {
    writeFileSync(file, text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(
      `${file} cannot be written (${reason}): files before it were changed, so mend this and run it again`,
    )
  }
}

function parsed(args: readonly string[]): { help: boolean; dryRun: boolean; folders: string[] } {
  const { values, positionals } = parsedWords(args)
  const [name, ...folders] = positionals
  if (values.help === true) return { help: true, dryRun: false, folders: [] }
  if (name === undefined) throw new UsageError('give a codemod and a folder: leasehold-codemod redlock src/')
  if (name !== 'redlock') throw new UsageError(`there is no codemod ${name}: the one there is is redlock`)
  if (folders.length === 0) throw new UsageError('give a folder: leasehold-codemod redlock src/')
  return { help: false, dryRun: values['dry-run'] === true, folders }
}

function parsedWords(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: { 'dry-run': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function report({ changed, leftovers }: RedlockChanges, dryRun: boolean, folder: string): string {
  const shown = (file: string): string => {
    const path = relative(folder, file)
    return path === '' || path.startsWith('..') ? file : path
  }
  const parts = changed.map((change) => (dryRun ? diff(change, shown(change.file)) : `changed ${shown(change.file)}\n`))
  if (leftovers.length > 0) {
    parts.push(`\nTo do by hand:\n`)
    for (const { file, line, sentence } of leftovers) parts.push(`${shown(file)}:${line}: ${sentence}\n`)
  }
  parts.push(closing(changed.length, leftovers.length, dryRun))
  return parts.join('')
}

function closing(changed: number, left: number, dryRun: boolean): string {
  if (changed === 0 && left === 0) return 'No code here uses redlock.\n'
  const files = changed === 1 ? '1 file' : `${changed} files`
  const places = left === 1 ? '1 place is' : `${left} places are`
  const sum = `\n${files} ${dryRun ? 'would change' : 'changed'}, ${places} left to do by hand.\n`
  const advice = 'A lock of redlock and a lease do not exclude each other: do not deploy a part of this.\n'
  return left > 0 ? sum + advice : sum
}

function diff({ lines }: ChangedFile, file: string): string {
  const hunks = lines.map(({ line, before, after }) => {
    const removed = before.map((text) => `-${text}\n`).join('')
    const added = after.map((text) => `+${text}\n`).join('')
    return `@@ ${file}:${line} @@\n${removed}${added}`
  })
  return `--- ${file}\n+++ ${file}\n${hunks.join('')}`
}
