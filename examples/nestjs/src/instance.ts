/** A process with one instance of the service: `instance.ts FOLDER NAME`. Sends its address to its parent. */
import { NestFactory } from '@nestjs/core'
import { appModuleOf } from './app-module.js'

const [folder = '', name = ''] = process.argv.slice(2)

const application = await NestFactory.create(appModuleOf({ folder, name }), { logger: ['error', 'warn'] })
// At a SIGTERM, the schedules and the leader end before the process does: another instance goes on at once.
application.enableShutdownHooks()
await application.listen(0, '127.0.0.1')
// The demo has ended.
process.on('disconnect', () => process.exit())
process.send?.(await application.getUrl())
