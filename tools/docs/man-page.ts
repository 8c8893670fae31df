import { join } from 'node:path'
import {
  type CommandDeclaration,
  type OptionDeclarations,
  valueShown,
} from '../../packages/cli/src/command-declaration.js'
import { declarations } from '../../packages/cli/src/commands.js'
import { answerOptions } from '../../packages/cli/src/declarations.js'
import { exitCodes } from '../../packages/cli/src/exit-codes.js'
import { synopsis } from '../../packages/cli/src/help.js'
import { storeKinds } from '../../packages/cli/src/store-kinds.js'
import { readManifest, root } from '../workspaces.js'

/** The meaning of each exit code, for the man page and the guide. */
export const exitCodeTexts: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'Done.',
  no: 'The answer is no: nothing to break, no pause to end, a grant that is not in force, no process of a region, a law that the store breaks, a check of doctor that fails.',
  usage: 'The command line is wrong.',
  unreadable: 'A file that was given cannot be read, is cut off, or is of a newer version.',
  unreachable: 'The store cannot be reached, or did not answer in time.',
  internal: 'A fault of leasehold itself.',
  system:
    'The system cannot start the process that watches the command: a limit of processes or of open files is reached.',
  unwritable: 'The output cannot be written.',
  notAcquired: 'Another owner holds the lease.',
  unauthorised: 'The store refused the credentials, or this user may not do it.',
  configuration: 'A setting is wrong, a package is missing, or the store is not fit for leases.',
  lost: 'The lease was lost while the command ran.',
}

/** The man page of the command, from its table of commands: `npm run docs:update`. */
export function manPage(): { readonly path: string; readonly text: string } {
  const folder = join(root, 'packages', 'cli')
  const { version } = readManifest(folder)
  const sections = [
    `.TH LEASEHOLD 1 "" "leasehold ${version}" "Leasehold"`,
    '.SH NAME',
    'leasehold \\- run any program under a lease, and look at the leases of any store',
    '.SH SYNOPSIS',
    ...declarations.map((command) => `.B ${escaped(synopsis(command))}\n.br`),
    '.SH DESCRIPTION',
    'A lease gives one holder the right to act for a limited time. The leases are in a folder of this user unless a store is given.',
    '.SH COMMANDS',
    ...declarations.map((command) => commandSection(command)),
    '.SH OPTIONS',
    'For every command that uses a store, or prints a result.',
    optionList(answerOptions),
    '.SH STORES',
    ...storeKinds.map(({ schemes, example, install }) => {
      const needs = install.length === 0 ? 'Part of leasehold.' : `npm install ${install.join(' ')}`
      return `.TP\n.B ${escaped(example)}\n${escaped(`${schemes.map((scheme) => `${scheme}:`).join(', ')} ${needs}`)}`
    }),
    '.SH EXIT STATUS',
    'leasehold run returns the exit code of its command, 128 + n if signal n ended it, 126 or 127 if it cannot be started. The codes of leasehold itself:',
    ...Object.entries(exitCodes).map(
      ([name, code]) => `.TP\n.B ${code}\n${escaped(exitCodeTexts[name as keyof typeof exitCodes])}`,
    ),
    '.SH ENVIRONMENT',
    '.TP\n.B LEASEHOLD_STORE\nThe URL of the store, where neither \\-\\-store nor \\-\\-config is given. Other users of the machine do not see it, unlike a command line.',
    '.TP\n.B NO_COLOR\nIf it is not empty, the output has no colours.',
    '.TP\n.B XDG_STATE_HOME\nThe folder in which the leases of this user are; ~/.local/state unless given.',
  ]
  return { path: join(folder, 'man', 'leasehold.1'), text: `${sections.join('\n')}\n` }
}

function commandSection(command: CommandDeclaration): string {
  const { summary, details, operands, options, examples } = command
  const own = Object.fromEntries(Object.entries(options).filter(([name]) => !(name in answerOptions)))
  const described = operands.map(({ name, description }) => `.TP\n.I ${escaped(name)}\n${escaped(description)}.`)
  const shown = examples.map(
    ({ line, description }) => `.PP\n${escaped(description)}:\n.PP\n.nf\n    ${escaped(line)}\n.fi`,
  )
  return [
    `.SS ${escaped(synopsis(command))}`,
    escaped([`${summary}.`, details ?? ''].join(' ').trim()),
    ...described,
    ...(Object.keys(own).length === 0 ? [] : [optionList(own)]),
    ...shown,
  ].join('\n')
}

function optionList(options: OptionDeclarations): string {
  return Object.entries(options)
    .map(([name, option]) => {
      const value = valueShown(option)
      const short = option.short === undefined ? '' : `-${option.short}, `
      const flags = `${short}--${name}${value === undefined ? '' : ` ${value}`}`
      return `.TP\n.B ${escaped(flags)}\n${escaped(option.description)}.`
    })
    .join('\n')
}

/** Text for roff: no line begins with a dot or a quote, and a hyphen is a minus that can be copied. */
function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('…', '...')
    .replace(/^([.'])/, '\\&$1')
}
