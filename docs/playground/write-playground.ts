import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildPage } from '../../packages/ui/src/page/build-page.js'
import type { PageFiles } from '../../packages/ui/src/page/page-file.js'

const root = fileURLToPath(new URL('.', import.meta.url))

const standIn = (name: string): string => join(root, 'stand-ins', `${name}.ts`)

/** Builds the page of the playground, with the sources of core. */
export function buildPlayground(): Promise<PageFiles> {
  return buildPage({
    root,
    entries: { app: 'client/main.tsx', style: 'client/page.css', icon: '../../packages/ui/client/icon.svg' },
    standIns: {
      alias: {
        'node:os': standIn('os'),
        'node:events': standIn('events'),
        'node:async_hooks': standIn('async-hooks'),
        'node:timers/promises': standIn('timers-promises'),
        'node:fs': standIn('modules'),
        'node:module': standIn('modules'),
        'node:path': standIn('modules'),
        'node:url': standIn('modules'),
      },
      inject: [standIn('globals')],
    },
  })
}

/** Builds the page into a folder that the site serves as it is. */
export async function writePlayground(folder = join(root, '../public/playground')): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  for (const { path, body } of (await buildPlayground()).values()) {
    const file = join(folder, path === '' ? 'index.html' : path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, body)
  }
}
