import { ConfigurableModuleBuilder, type DynamicModule, Module } from '@nestjs/common'
import { DiscoveryModule, DiscoveryService, MetadataScanner } from '@nestjs/core'
import { ApplicationLeases } from './application-leases.js'
import type { LeaseholdModuleOptions } from './leasehold-options.js'
import { Leases } from './leases.js'

export interface LeaseholdModuleExtras {
  /** Whether all modules of the application can inject the leases without importing this module; `true` unless given. */
  readonly isGlobal?: boolean
}

/** Has the options and the leases. The only part that can be global: see `aroundLeases`. */
class LeasesModule {}
Module({})(LeasesModule)

const built = new ConfigurableModuleBuilder<LeaseholdModuleOptions>({ moduleName: 'Leasehold' })
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createLeaseholdOptions')
  .setExtras<LeaseholdModuleExtras>({ isGlobal: true }, aroundLeases)
  .build()

/** The token of the options of the module. Tests override the provider. */
export const LEASEHOLD_OPTIONS: string | symbol = built.MODULE_OPTIONS_TOKEN

/** The base of `LeaseholdModule`, as Nest's builder makes it: with `forRoot` and `forRootAsync`. */
export const ConfigurableModuleClass = built.ConfigurableModuleClass

/**
 * Leases for an application. `forRoot({ store, guardCron: true })` makes the `@Cron` methods of the application run on one of
 * its instances. The start of the application fails with a `LeaseConfigurationError` if an option or a decorator is invalid.
 */
export class LeaseholdModule extends ConfigurableModuleClass {}
Module({})(LeaseholdModule)

/**
 * Nest calls the hooks of global modules first. The hooks of this module come after those of `ScheduleModule`, which is
 * global, so only the module that it imports can be global.
 */
function aroundLeases(
  { module, imports = [], providers = [], ...others }: DynamicModule,
  { isGlobal }: LeaseholdModuleExtras,
): DynamicModule {
  const leases = { provide: Leases, useFactory: (options: LeaseholdModuleOptions) => new Leases(options) }
  const inner: DynamicModule = {
    ...others,
    module: LeasesModule,
    global: isGlobal ?? true,
    imports,
    providers: [...providers, { ...leases, inject: [LEASEHOLD_OPTIONS] }],
    exports: [Leases],
  }
  const application = {
    provide: ApplicationLeases,
    useFactory: (made: Leases, discovery: DiscoveryService, scanner: MetadataScanner) =>
      new ApplicationLeases(made, discovery, scanner),
    inject: [Leases, DiscoveryService, MetadataScanner],
  }
  return { module, imports: [DiscoveryModule, inner], providers: [application], exports: [LeasesModule] }
}
