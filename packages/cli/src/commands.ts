import { type Command, command } from './command.js'
import { advise } from './declarations/advise.js'
import { breakCommand } from './declarations/break.js'
import { completion } from './declarations/completion.js'
import { config } from './declarations/config.js'
import { durations } from './declarations/durations.js'
import { list } from './declarations/list.js'
import { migrate } from './declarations/migrate.js'
import { release } from './declarations/release.js'
import { run } from './declarations/run.js'
import { status } from './declarations/status.js'
import { verify } from './declarations/verify.js'
import { watch } from './declarations/watch.js'

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
  command(run, async () => (await import('./commands/run.js')).runCommand),
  command(status, async () => (await import('./commands/status.js')).showStatus),
  command(list, async () => (await import('./commands/list.js')).listAll),
  command(watch, async () => (await import('./commands/watch.js')).watchOne),
  command(breakCommand, async () => (await import('./commands/break.js')).breakOne),
  command(release, async () => (await import('./commands/release.js')).releaseOne),
  command(verify, async () => (await import('./commands/verify.js')).verifyStore),
  command(migrate, async () => (await import('./commands/migrate.js')).migrateStore),
  command(config, async () => (await import('./commands/config.js')).printConfig),
  command(durations, async () => (await import('./commands/durations.js')).printDurations),
  command(advise, async () => (await import('./commands/advise.js')).printAdvice),
  command(completion, async () => (await import('./commands/completion.js')).printCompletion),
]
