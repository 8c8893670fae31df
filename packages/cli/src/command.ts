import type { CommandDeclaration, Invocation } from './command-declaration.js'
import type { Terminal } from './terminal.js'

/** Carries out a command. Resolves with the exit code; rejects with the error to show. `all`: of all commands. */
export type Action<C extends CommandDeclaration> = (
  invocation: Invocation<C>,
  terminal: Terminal,
  all: readonly CommandDeclaration[],
) => Promise<number>

/** A command, and how to load it: only the chosen command is loaded. */
export interface Command {
  readonly declaration: CommandDeclaration
  readonly load: () => Promise<Action<CommandDeclaration>>
}

export function command<C extends CommandDeclaration>(declaration: C, load: () => Promise<Action<C>>): Command {
  // The parser makes the invocation of an action from the declaration of the same command.
  return { declaration, load: load as unknown as Command['load'] }
}
