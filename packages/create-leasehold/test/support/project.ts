import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RecipeChoice, StoreChoice } from '../../src/choices.js'
import { projectFiles } from '../../src/project-files.js'
import { writeProject } from '../../src/write-project.js'

export const root = fileURLToPath(new URL('../../../..', import.meta.url))

/** Makes the packages of this repository, and those that they need, visible to the projects below the folder. */
export function linkPackages(folder: string): void {
  mkdirSync(folder, { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
}

/** Writes a project into a folder below one with packages; returns its folder. */
export function project(parent: string, store: StoreChoice, recipe: RecipeChoice): string {
  const name = `${recipe}-on-${store}`
  writeProject(join(parent, name), projectFiles({ name, store, recipe, version: '0.1.0' }))
  return join(parent, name)
}
