import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take long although they are short, the longest first: they install packages, build the site, start hundreds of
 * processes, or wait for leases of a quarter of a minute. Vitest starts with the largest files. One of these at the end would have
 * the machine to itself for a minute or more.
 */
export const longest: readonly RegExp[] = [
  /^tools\/test\/published\/projects/,
  /^docs\/site\/test\/built\//,
  /^tools\/test\/published\/pack/,
  /^packages\/recipes\/test\/servers\/azure-blob-laws/,
  /^packages\/azure-blob\/test\/(laws\/|outcome-tables)/,
  /^examples\/getting-started\/test\/programs/,
  /^packages\/heartbeat-thread\/test\/(heartbeat-thread|processes)/,
  /^packages\/local\/test\/threads/,
  /^packages\/recorder\/test\/stack/,
  /^packages\/cli\/test\/run\/stores/,
  /^packages\/(mysql|dynamodb)\/test\/faults/,
  /^testing\/chaos\/test\/servers\//,
  /^packages\/(heartbeat-thread\/test\/|local\/test\/thread-|recipes\/test\/thread\/thread-)laws/,
  /^packages\/(consul|dynamodb|etcd|kubernetes|mysql|nats|postgres|redis|s3)\/test\/laws/,
]

/** Runs the longest files of each group of projects first. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted(
      (left, right) => groupOf(left) - groupOf(right) || this.#placeOf(left) - this.#placeOf(right),
    )
  }

  #placeOf({ moduleId }: TestSpecification): number {
    const path = moduleId.slice(this.ctx.config.root.length + 1)
    const place = longest.findIndex((pattern) => pattern.test(path))
    return place < 0 ? longest.length : place
  }
}

function groupOf({ project }: TestSpecification): number {
  return project.config.sequence.groupOrder
}
