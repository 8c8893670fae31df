import { readFileSync } from 'node:fs'
import type { Command } from './command-declaration.js'
import { asksForHelp, parseInvocation, splitCommandLine } from './command-line.js'
import { commands, declarations } from './commands.js'
import { exitCodes } from './exit-codes.js'
import { failureOf } from './failure.js'
import { commandHelp, overview } from './help.js'
import type { Terminal } from './terminal.js'
import { didYouMean, UsageError } from './usage-error.js'

/** 128 and the number of SIGPIPE. */
const BROKEN_PIPE = 141

/** Carries out a command line. Resolves with the exit code and never rejects: errors are written to `terminal.errors`. */
export async function leasehold(args: readonly string[], terminal: Terminal): Promise<number> {
  // The timers of a clock do not keep the process alive. This port does, until the command has ended.
  const { port1: alive } = new MessageChannel()
  alive.ref()
  try {
    return await carryOut(args, terminal)
  } catch (error) {
    const { message, exitCode } = failureOf(error)
    terminal.errors.write(`leasehold: ${message}\n`)
    return exitCode
  } finally {
    alive.close()
  }
}

async function carryOut(args: readonly string[], terminal: Terminal): Promise<number> {
  const { command: name, words } = splitCommandLine(args)
  if (name === undefined || name === '--') return withoutCommand(words, terminal)
  const command = commandNamed(name)
  if (asksForHelp(words)) {
    terminal.output.write(commandHelp(command.declaration))
    return exitCodes.ok
  }
  const invocation = parseInvocation(command.declaration, words)
  // If the command runs another program, the output belongs to that program.
  if (command.declaration.takesCommand !== true) terminal.output.once('error', endWithReader)
  const action = await command.load()
  return await action(invocation, terminal, declarations)
}

/** Ends this process: its output cannot be written. If the reader has ended, the exit code is that of SIGPIPE. */
function endWithReader({ code }: NodeJS.ErrnoException): never {
  process.exit(code === 'EPIPE' ? BROKEN_PIPE : exitCodes.unwritable)
}

function withoutCommand(words: readonly string[], { output, errors }: Terminal): number {
  if (words.includes('--version') || words.includes('-V')) {
    const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
    output.write(`${JSON.parse(manifest).version}\n`)
    return exitCodes.ok
  }
  const isAsked = asksForHelp(words)
  ;(isAsked ? output : errors).write(overview(declarations))
  return isAsked ? exitCodes.ok : exitCodes.usage
}

function commandNamed(name: string): Command {
  const found = commands.find(({ declaration }) => declaration.name === name)
  if (found !== undefined) return found
  const names = declarations.map((declaration) => declaration.name)
  const help = didYouMean(name, names, 'see leasehold --help', (meant) => `'${meant}'`)
  throw new UsageError(`there is no command '${name}': ${help}`)
}
