/** The model of a kept run, whatever else of the run is damaged. */
import { createEngine } from 'posttrain-engine';
import type { Lab } from './lab.svelte';
import { ofBlob } from './source';

const ROOM = 1.5;
const ROOM_BYTES = 64e6;

/** Its own checksums are asked where the shelf's are gone. */
async function prove(model: File): Promise<void> {
    const engine = await createEngine({ threads: 1, needBytes: ROOM * model.size + ROOM_BYTES });
    try {
        await engine.importModel(ofBlob(model, 'the model').pieces(), model.size);
    } finally {
        await engine.close();
    }
}

export async function modelOf({ keeper }: Lab, id: string): Promise<File> {
    const { model, proved } = await keeper.shelf.call('model', { id });
    if (!proved) await prove(model);
    return model;
}
