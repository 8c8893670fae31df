import { type Command, command } from './command.js'
import { status } from './declarations/status.js'

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  command(status, async () => (await import('./commands/status.js')).showStatus),
]
